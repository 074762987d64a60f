/** The commands that start fastest (quick.ts); kept apart so that the bin stub knows them without loading any. */
export const quickNames = [
  'branch',
  'branches',
  'checkpoints',
  'fsck',
  'log',
  'resolve',
  'run',
  'show',
  'switch',
] as const

export type QuickName = (typeof quickNames)[number]
