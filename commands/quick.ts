import { BranchCommand } from './branch.ts'
import { BranchesCommand } from './branches.ts'
import { CheckpointsCommand } from './checkpoints.ts'
import { FsckCommand } from './fsck.ts'
import { LogCommand } from './log.ts'
import type { LoadCommand } from './manifest.ts'
import { makeProgram } from './program.ts'
import type { QuickName } from './quickNames.ts'
import { ResolveCommand } from './resolve.ts'
import { RunCommand } from './run.ts'
import { ShowCommand } from './show.ts'
import { SwitchCommand } from './switch.ts'

/** The plumbing, which scripts call by the hundred: it goes into one file with the bin stub, which starts fastest. */
export const quickCommands: Readonly<Record<QuickName, LoadCommand>> = {
  branch: async () => BranchCommand,
  branches: async () => BranchesCommand,
  checkpoints: async () => CheckpointsCommand,
  fsck: async () => FsckCommand,
  log: async () => LogCommand,
  resolve: async () => ResolveCommand,
  run: async () => RunCommand,
  show: async () => ShowCommand,
  switch: async () => SwitchCommand,
}

/** The program with these commands only. */
export const run = makeProgram(quickCommands)
