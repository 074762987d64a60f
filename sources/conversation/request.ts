/**
 * A message as it goes to a provider. Built by `buildRequest`, so that a strict provider accepts it
 * (docs/storage.md, requests).
 */
export type RequestMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: string }
  | {
      readonly role: 'assistant'
      readonly content: string | null
      readonly reasoning?: { readonly field: string; readonly text: string }
      /** `arguments` is always the text of a JSON object. */
      readonly tool_calls?: ReadonlyArray<{ readonly id: string; readonly name: string; readonly arguments: string }>
    }
  | { readonly role: 'tool'; readonly tool_call_id: string; readonly content: string }
