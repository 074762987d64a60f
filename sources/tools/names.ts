// Control characters, line separators, and those that turn the direction of a text round.
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const unsafe = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u2028-\u202e\u2066-\u2069]/

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A file name or path as a text that is safe to show: plain when it is harmless, else quoted with escapes. */
export function showName(name: Buffer | string): string {
  const text = typeof name === 'string' ? name : tryDecode(name)
  if (text === null) return `"${escapeBytes(name)}"`
  if (!unsafe.test(text) && text.trim() === text && !text.startsWith('"')) return text
  const escaped = JSON.stringify(text).slice(1, -1)
  return `"${[...escaped].map((char) => (unsafe.test(char) ? escapeCode(char) : char)).join('')}"`
}

function tryDecode(name: Buffer): string | null {
  try {
    return utf8.decode(name)
  } catch {
    // Not UTF-8, so the bytes themselves are shown.
    return null
  }
}

function escapeCode(char: string): string {
  return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`
}

function escapeBytes(name: Buffer | string): string {
  return [...Buffer.from(name)]
    .map((byte) => {
      if (byte === 0x22 || byte === 0x5c) return `\\${String.fromCharCode(byte)}`
      return byte >= 0x20 && byte < 0x7f
        ? String.fromCharCode(byte)
        : `\\x${byte.toString(16).padStart(2, '0')}`
    })
    .join('')
}
