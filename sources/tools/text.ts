/** How the bytes of a text file are to be read. */
export type Encoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'latin-1'

/** A text file taken apart so that putting it together again gives the same bytes. */
export interface DecodedText {
  readonly encoding: Encoding
  /** The byte order mark, kept aside; empty when there is none. */
  readonly mark: Buffer
  readonly text: string
  /** A last odd byte of UTF-16; empty otherwise. */
  readonly rest: Buffer
}

export interface Marked {
  readonly encoding: Encoding | null
  readonly mark: Buffer
}

/** How far a file is looked into to tell text from binary. */
export const probeBytes = 8192

const none = Buffer.alloc(0)

/** The encoding that a byte order mark names; null when there is none. */
export function readMark(bytes: Buffer): Marked {
  if (bytes.subarray(0, 3).equals(Buffer.from([0xef, 0xbb, 0xbf])))
    return { encoding: 'utf-8', mark: bytes.subarray(0, 3) }
  const isWide = bytes.subarray(0, 4).equals(Buffer.from([0xff, 0xfe, 0, 0]))
  if (bytes[0] === 0xff && bytes[1] === 0xfe && !isWide)
    return { encoding: 'utf-16le', mark: bytes.subarray(0, 2) }
  if (bytes[0] === 0xfe && bytes[1] === 0xff) return { encoding: 'utf-16be', mark: bytes.subarray(0, 2) }
  return { encoding: null, mark: none }
}

/** Whether the beginning of a file says that it is no text. UTF-16 with its mark is text. */
export function isBinary(beginning: Buffer): boolean {
  const { encoding } = readMark(beginning)
  if (encoding === 'utf-16le' || encoding === 'utf-16be') return false
  return beginning.subarray(0, probeBytes).includes(0)
}

/** The text of a file: by its mark, else UTF-8 when it is valid, else Latin-1, which keeps every byte. Null: binary. */
export function tryDecodeText(bytes: Buffer): DecodedText | null {
  if (isBinary(bytes)) return null
  const { encoding, mark } = readMark(bytes)
  const body = bytes.subarray(mark.length)
  if (encoding === 'utf-16le' || encoding === 'utf-16be') {
    const even = body.length - (body.length % 2)
    return { encoding, mark, text: decodeWide(body.subarray(0, even), encoding), rest: body.subarray(even) }
  }
  const text = tryDecodeUtf8(body)
  if (text !== null) return { encoding: 'utf-8', mark, text, rest: none }
  return { encoding: 'latin-1', mark: none, text: bytes.toString('latin1'), rest: none }
}

/** UTF-8 that is valid, as a text; null when it is not. */
export function tryDecodeUtf8(bytes: Buffer): string | null {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    // Not UTF-8, which is an answer here.
    return null
  }
}

/** UTF-16 of either order; `bytes` has an even length. */
export function decodeWide(bytes: Buffer, encoding: 'utf-16le' | 'utf-16be'): string {
  return encoding === 'utf-16le' ? bytes.toString('utf16le') : Buffer.from(bytes).swap16().toString('utf16le')
}

/** The bytes of a changed text in the encoding of its file; null when that cannot hold one of its characters. */
export function tryEncodeText(
  text: string,
  { encoding, mark, rest }: Omit<DecodedText, 'text'>,
): Buffer | null {
  switch (encoding) {
    case 'utf-8':
      return Buffer.concat([mark, Buffer.from(text, 'utf8')])
    case 'latin-1':
      return encodeLatin1(text)
    case 'utf-16le':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le'), rest])
    case 'utf-16be':
      return Buffer.concat([mark, Buffer.from(text, 'utf16le').swap16(), rest])
  }
}

function encodeLatin1(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'latin1')
  return bytes.toString('latin1') === text ? bytes : null
}

/** Names what is unusual about a file's text, for the model: ` CRLF` and its encoding; empty when nothing is. */
export function describeText(
  { encoding, mark }: Omit<DecodedText, 'text' | 'rest'>,
  hasCrlf: boolean,
): string {
  const facts: string[] = []
  if (encoding === 'latin-1') facts.push('encoding Latin-1')
  if (encoding === 'utf-16le' || encoding === 'utf-16be') facts.push(`encoding ${encoding.toUpperCase()}`)
  if (encoding === 'utf-8' && mark.length > 0) facts.push('byte order mark')
  if (hasCrlf) facts.push('line ends CRLF')
  return facts.length === 0 ? '' : `[${facts.join(', ')}: kept by edit]`
}
