/** No file system of the three platforms takes a longer part. */
const maxPartBytes = 255
/** Linux and macOS take no longer path; the folder in front needs room too. */
const maxNameBytes = 768
const maxDepth = 32

/** Devices of Windows, which it finds under any ending: `nul.txt` is one. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\..*)?$/i

const faults: ReadonlyArray<readonly [RegExp, string]> = [
  [/^$/, 'has no name'],
  [/\ufffd|\p{Cs}/u, 'has a name that is not UTF-8'],
  [/[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/u, 'has control characters in its name'],
  [/^[A-Za-z]:/, 'begins with a drive letter'],
  [/^\//, 'has an absolute path'],
  [/\\/, 'has a backslash in its name'],
  [/[<>:"|?*]/, 'has a character in its name that not every system takes'],
]

/**
 * Why an archive's entry may not be named so, or null. The rules are those of all platforms together, so that an archive
 * means the same everywhere. The name of a folder comes without its last slash.
 */
export function findNameFault(name: string): string | null {
  for (const [pattern, fault] of faults) if (pattern.test(name)) return fault
  if (Buffer.byteLength(name) > maxNameBytes) return `has a name of more than ${maxNameBytes} bytes`
  const parts = name.split('/')
  if (parts.length > maxDepth) return `is more than ${maxDepth} folders deep`
  for (const part of parts) {
    if (part === '' || part === '.' || part === '..') return `has the part '${part}' in its path`
    if (Buffer.byteLength(part) > maxPartBytes) return `has a part of more than ${maxPartBytes} bytes`
    if (/[. ]$/.test(part)) return 'has a part that ends with a dot or a space'
    if (deviceName.test(part)) return `has the name of a device, '${part}'`
  }
  return null
}
