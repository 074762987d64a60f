/** Stopping and going on as Ctrl-Z and `fg` of a shell want it. */
export interface JobControl {
  /** Stops this process, and those that were started together with it. */
  stop(): void
  /** Calls the listener each time the process goes on. The function it gives ends that. */
  onContinue(listener: () => void): () => void
}

/** The job control of this process; on Windows, where there is none, nothing happens. */
export const jobControl: JobControl = {
  stop() {
    // The whole job, as the terminal would: a script around the program has to stop with it.
    if (process.platform !== 'win32') process.kill(0, 'SIGTSTP')
  },
  onContinue(listener) {
    if (process.platform === 'win32') return () => {}
    process.on('SIGCONT', listener)
    return () => void process.off('SIGCONT', listener)
  },
}
