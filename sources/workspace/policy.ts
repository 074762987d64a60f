/** What tools may do (docs/access-modes.md). The order is that of the mode switch in the chat. */
export type AccessMode = 'read-only' | 'workspace-edit' | 'full-access'

/** The facts that every path decision needs. All paths are canonical. */
export interface AccessPolicy {
  readonly mode: AccessMode
  /** The folder the user opened. */
  readonly workspace: string
  /** The bundled documentation: readable in every mode, never written. */
  readonly docsFolder: string
  /** Where conversations and configuration live: never written by tools. */
  readonly cassHome: string
}
