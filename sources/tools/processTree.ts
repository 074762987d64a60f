import { execFile } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { errnoOf } from '../errors.ts'

/** A process as it was seen; `started` tells it from a later one with the same number. */
export interface SeenProcess {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly started: string
}

/**
 * A variable set for each shell command. It finds, where `/proc` shows it, processes that left both the tree and the
 * process group of their command, as daemons do.
 */
export const callVariable = 'CASS_SHELL_CALL'

/** Every living process that a command started. Taken before anything is killed, since killing cuts the tree. */
export async function findStarted(root: number, call: string): Promise<ReadonlyArray<SeenProcess>> {
  const all = process.platform === 'linux' ? await readProc() : await readPs()
  const found = new Map<number, SeenProcess>()
  const members = new Set([root])
  // Parents may have greater numbers than their children, so until nothing is added.
  for (let before = -1; before !== members.size; ) {
    before = members.size
    for (const each of all) {
      const isOurs = members.has(each.parent) || each.group === root || each.pid === root
      if (!isOurs) continue
      members.add(each.pid)
      found.set(each.pid, each)
    }
  }
  if (process.platform === 'linux') {
    for (const each of all)
      if (!found.has(each.pid) && (await carries(each.pid, call))) found.set(each.pid, each)
  }
  return [...found.values()]
}

/** Sends a signal to processes that still are those that were seen. */
export async function signalAll(seen: ReadonlyArray<SeenProcess>, signal: NodeJS.Signals): Promise<void> {
  for (const each of seen) {
    if (await isStill(each)) trySignal(each.pid, signal)
  }
}

/** Sends a signal to a process, or with a negative number to a group. False when there is none. */
export function trySignal(pid: number, signal: NodeJS.Signals): boolean {
  try {
    process.kill(pid, signal)
    return true
  } catch (error) {
    // It is gone, or became another user's; neither can be killed by us.
    if (errnoOf(error) === 'ESRCH' || errnoOf(error) === 'EPERM') return false
    throw error
  }
}

async function isStill({ pid, started }: SeenProcess): Promise<boolean> {
  if (process.platform !== 'linux') return true
  return (await readStat(pid))?.started === started
}

async function readProc(): Promise<ReadonlyArray<SeenProcess>> {
  const names = await readdir('/proc')
  const found = await Promise.all(
    names.filter((name) => /^\d+$/.test(name)).map((name) => readStat(Number(name))),
  )
  return found.filter((each) => each !== null)
}

async function readStat(pid: number): Promise<SeenProcess | null> {
  const text = await readOptional(`/proc/${pid}/stat`)
  // The name stands in parentheses and may hold anything.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const [state, parent, group] = fields
  if (state === undefined || state === 'Z' || state === '' || parent === undefined) return null
  return { pid, parent: Number(parent), group: Number(group), started: fields[19] ?? '' }
}

async function carries(pid: number, call: string): Promise<boolean> {
  const environment = await readOptional(`/proc/${pid}/environ`)
  return environment.split('\0').includes(`${callVariable}=${call}`)
}

async function readOptional(file: string): Promise<string> {
  try {
    return await readFile(file, 'latin1')
  } catch (error) {
    // The process ended meanwhile, or is not ours to look at.
    if (errnoOf(error) !== null) return ''
    throw error
  }
}

async function readPs(): Promise<ReadonlyArray<SeenProcess>> {
  const { stdout } = await promisify(execFile)('ps', ['-axo', 'pid=,ppid=,pgid='])
  return stdout.split('\n').flatMap((line) => {
    const [pid, parent, group] = line.trim().split(/\s+/).map(Number)
    if (pid === undefined || parent === undefined || group === undefined) return []
    return [{ pid, parent, group, started: '' }]
  })
}
