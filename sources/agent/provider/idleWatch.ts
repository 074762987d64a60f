// A longer one would fire at once.
const longestTimer = 2 ** 31 - 1

/** Ends a request whose server is silent for too long, or whose user cancelled it. */
export interface IdleWatch {
  readonly signal: AbortSignal
  /** True when the silence was too long. */
  isExpired: () => boolean
  /** Starts the silence anew. */
  touch: () => void
  /** To be called when the request is over. */
  stop: () => void
}

/** Starts watching; `signal` is the user's. */
export function startIdleWatch(idleMs: number, signal: AbortSignal): IdleWatch {
  const controller = new AbortController()
  const abort = () => controller.abort()
  let expired = false
  const timer = setTimeout(
    () => {
      expired = true
      abort()
    },
    Math.min(idleMs, longestTimer),
  )
  signal.addEventListener('abort', abort, { once: true })
  if (signal.aborted) abort()
  return {
    signal: controller.signal,
    isExpired: () => expired,
    touch: () => {
      if (!controller.signal.aborted) timer.refresh()
    },
    stop: () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    },
  }
}
