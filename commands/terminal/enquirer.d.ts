// The part of enquirer that its own types leave out.
declare module 'enquirer' {
  import type { Readable, Writable } from 'node:stream'

  interface SelectOptions {
    readonly message: string
    readonly choices: ReadonlyArray<{ readonly name: string; readonly message: string }>
    /** The number of the choice that Enter takes at first. */
    readonly initial?: number
    /** The height that is reckoned with; omitted: the terminal's. */
    readonly rows?: number
    readonly stdin?: Readable
    readonly stdout?: Writable
  }
  class Select {
    constructor(options: SelectOptions)
    /** Gives the name of the choice; rejects with an empty string on Esc and Ctrl-C. */
    run(): Promise<string>
    /** The focused choice. */
    index: number
    /** Called with every key that has no meaning of its own. */
    dispatch(input: string | undefined): unknown
    submit(): Promise<void>
    render(): Promise<void>
  }
  const enquirer: { readonly Select: typeof Select }
  export default enquirer
}
