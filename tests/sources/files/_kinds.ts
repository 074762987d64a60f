import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync } from 'node:fs'

/** What is no file and may have the name of one; opening the first for reading would wait for ever. */
export const otherKinds = [
  ['a pipe', (place: string) => void execFileSync('mkfifo', [place]), 'it is not a file'],
  // As to a device: never to a real one, which a fault here would replace for the whole machine.
  ['a link to a pipe', linkToPipe, 'it is not a file'],
  ['a folder', (place: string) => void mkdirSync(place), 'it is a folder'],
] as const

/** Puts something else in the place of a file. */
export function replaceBy(make: (place: string) => void, place: string): void {
  rmSync(place, { recursive: true, force: true })
  make(place)
}

function linkToPipe(place: string): void {
  execFileSync('mkfifo', [`${place}.target`])
  symlinkSync(`${place}.target`, place)
}
