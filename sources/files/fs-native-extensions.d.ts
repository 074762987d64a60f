/** The part of fs-native-extensions (which has no types of its own) that is used here. */
declare module 'fs-native-extensions' {
  export function tryLock(fd: number, options?: { shared?: boolean }): boolean
  export function unlock(fd: number): void
  export function swap(from: string, to: string): Promise<void>
}
