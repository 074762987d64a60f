/** Resolves with null some time after `signal` is aborted. `stop` takes back its listener and its timer. */
export function afterAbort(
  signal: AbortSignal,
  milliseconds: number,
): { readonly promise: Promise<null>; readonly stop: () => void } {
  let timer: NodeJS.Timeout | undefined
  let start = () => {}
  const promise = new Promise<null>((resolve) => {
    start = () => {
      timer = setTimeout(() => resolve(null), milliseconds)
    }
    if (signal.aborted) start()
    else signal.addEventListener('abort', start, { once: true })
  })
  const stop = () => {
    clearTimeout(timer)
    signal.removeEventListener('abort', start)
  }
  return { promise, stop }
}
