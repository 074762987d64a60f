import { CassError } from '../errors.ts'

/** The environment as it was handed in; `sources/` never reads the process's own. */
export type Environment = Readonly<Record<string, string | undefined>>

/** Node's inspect asks this method; it is named by symbol so that this file needs no `node:` module. */
const inspect = Symbol.for('nodejs.util.inspect.custom')

/**
 * The `api_key` of a provider as it is stored: `$NAME` names an environment variable (all of the rest, verbatim), anything
 * else is the key itself, and an empty text is no key. Printing, logging or serialising it never shows a key.
 */
export class KeyReference {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  get form(): 'variable' | 'literal' | 'none' | 'invalid' {
    if (this.#text.trim() === '') return 'none'
    if (this.#text === '$') return 'invalid'
    return this.#text.startsWith('$') ? 'variable' : 'literal'
  }

  /** The variable's name, null for every other form. */
  get variable(): string | null {
    return this.form === 'variable' ? this.#text.slice(1) : null
  }

  /** The stored text, possibly the key itself: only for writing providers.json and for `resolveKey`. */
  reveal(): string {
    return this.#text
  }

  toString(): string {
    switch (this.form) {
      case 'variable':
        return `$${showVariable(this.#text.slice(1))}`
      case 'literal':
        return '<literal API key>'
      case 'none':
        return '<no API key>'
      case 'invalid':
        return '<invalid API key reference>'
    }
  }

  toJSON(): string {
    return this.toString()
  }

  [inspect](): string {
    return this.toString()
  }
}

/** No key at all, as local servers want it. */
export const noKey = new KeyReference('')

export function makeVariableReference(name: string): KeyReference {
  return new KeyReference(`$${name}`)
}

/** A key that can be sent. Only `reveal` gives it away; `redact` takes it out of a text that others wrote. */
export class ApiKey {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  reveal(): string {
    return this.#text
  }

  redact(text: string): string {
    return text.replaceAll(this.#text, '<API key>')
  }

  toString(): string {
    return '<API key>'
  }

  toJSON(): string {
    return '<API key>'
  }

  [inspect](): string {
    return '<API key>'
  }
}

/** Turns a reference into the key; null when the reference says that there is none. Throws `api_key_missing`, `api_key_empty` or `api_key_invalid`. */
export function resolveKey(reference: KeyReference, env: Environment): ApiKey | null {
  const { form, variable } = reference
  if (form === 'none') return null
  if (form === 'invalid') {
    throw new CassError('api_key_invalid', "the API key reference '$' names no variable", {
      hint: "write '$NAME' with the name of an environment variable",
    })
  }
  const raw = variable === null ? reference.reveal() : env[variable]
  if (raw === undefined) throw missingVariable(variable ?? '')
  const text = raw.trim()
  if (text === '') {
    throw new CassError(
      'api_key_empty',
      `API key environment variable '${showVariable(variable ?? '')}' is empty`,
      {
        hint: 'set it to your key, then try again',
      },
    )
  }
  // Such a key cannot travel in a header, and the HTTP client's own error would quote it.
  if (!/^[\x20-\x7e]+$/.test(text)) {
    throw new CassError('api_key_invalid', `${describe(reference)} holds characters that no key can have`, {
      hint: 'copy the key again, without line breaks or invisible characters',
    })
  }
  return new ApiKey(text)
}

/** Whether a name can be that of a variable; a key pasted by mistake mostly cannot, and is then not repeated. */
export function isVariableName(name: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)
}

/** A variable's name as it may be shown: one that looks like no name could be a pasted key. */
export function showVariable(name: string): string {
  return isVariableName(name) || /^\{[A-Za-z_]\w*\}$/.test(name) ? name : '<unusual name>'
}

/** The name in `{NAME}`: a reference was written as shells allow it. Null for every other text. */
export function unbracedName(name: string): string | null {
  return /^\{([A-Za-z_]\w*)\}$/.exec(name)?.[1] ?? null
}

function missingVariable(name: string): CassError {
  const braced = unbracedName(name)
  return new CassError('api_key_missing', `missing API key environment variable '${showVariable(name)}'`, {
    hint: braced === null ? 'set it to your key, then try again' : `write '$${braced}', without braces`,
    data: { variable: showVariable(name) },
  })
}

function describe(reference: KeyReference): string {
  const { variable } = reference
  return variable === null
    ? 'the literal API key'
    : `API key environment variable '${showVariable(variable)}'`
}
