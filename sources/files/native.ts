/** What the kernel offers beyond Node's own `fs`: whole-file locks, and exchanging two paths in one step. */
export interface NativeFiles {
  tryLock(fd: number, options?: { shared?: boolean }): boolean
  unlock(fd: number): void
  swap(from: string, to: string): Promise<void>
}

let loading: Promise<NativeFiles | null> | undefined

/**
 * The native part, or null where there is none for this platform (it ships no build for musl). Callers have a
 * fallback of their own then.
 */
export function loadNativeFiles(): Promise<NativeFiles | null> {
  loading ??= import('fs-native-extensions').then(
    (native) => native,
    // Any failure to load means the same: a platform without a build. The fallback locks are as safe.
    () => null,
  )
  return loading
}
