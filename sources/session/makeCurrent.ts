import { type CurrentBranch, writeCurrentBranch } from '../conversation/currentBranch.ts'
import { operationsLock, type Place } from './place.ts'

/**
 * Makes a branch the one where the next process in this folder begins. Gives false when another process chose a branch since
 * `seen` was read: its choice stays.
 */
export async function makeCurrent(
  place: Place,
  { seen, next }: { readonly seen: CurrentBranch | null; readonly next: CurrentBranch },
): Promise<boolean> {
  return writeCurrentBranch({
    ...{ root: place.root, folder: place.cwd, seen, next, lockFile: operationsLock(place), now: place.now() },
  })
}
