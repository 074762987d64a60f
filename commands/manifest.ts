import type { CommandClass } from 'clipanion'
import type { CommandContext } from './context.ts'

/** The class of a command (`BaseCommand` in base.ts tells what its own fields mean). */
export type CassCommandClass = CommandClass<CommandContext> & {
  readonly printsList: boolean
  readonly hasJson: boolean
  readonly words: string
}

/** Loads the class of one command, and nothing else. */
export type LoadCommand = () => Promise<CassCommandClass>

/** Commands by name. */
export type Manifest = Readonly<Record<string, LoadCommand>>

/** The only list of all commands, sorted by name. */
export const manifest: Manifest = {
  branch: async () => (await import('./branch.ts')).BranchCommand,
  branches: async () => (await import('./branches.ts')).BranchesCommand,
  chat: async () => (await import('./chat.ts')).ChatCommand,
  chats: async () => (await import('./chats.ts')).ChatsCommand,
  check: async () => (await import('./check.ts')).CheckCommand,
  checkpoints: async () => (await import('./checkpoints.ts')).CheckpointsCommand,
  demo: async () => (await import('./demo.ts')).DemoCommand,
  fsck: async () => (await import('./fsck.ts')).FsckCommand,
  log: async () => (await import('./log.ts')).LogCommand,
  resolve: async () => (await import('./resolve.ts')).ResolveCommand,
  run: async () => (await import('./run.ts')).RunCommand,
  show: async () => (await import('./show.ts')).ShowCommand,
  switch: async () => (await import('./switch.ts')).SwitchCommand,
}
