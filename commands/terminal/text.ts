/**
 * Removes everything that a terminal would obey instead of showing: escape sequences (CSI, OSC, DCS and the like), C0 and
 * C1 control characters, and characters that nobody sees, of which some turn the order of what is seen. Line breaks and
 * tabs stay.
 */
export function stripControls(text: string): string {
  return text.replace(sequences, '').replace(controls, '').replace(invisible, '')
}

/** A text where nothing is hidden, for a decision: what `stripControls` would remove is written out, as `\\u202e`. */
export function escapeHidden(text: string): string {
  return text
    .replace(/\r\n/g, '\n')
    .replace(hidden, (character) => `\\u${hexOf(character)}`)
    .replaceAll('\t', '    ')
}

function hexOf(character: string): string {
  const hex = (character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')
  return hex.length === 4 ? hex : `{${hex}}`
}

/** The first and the last lines, with a word about those between, when there are more than `limit`. */
export function shortenLines(lines: ReadonlyArray<string>, limit: number): ReadonlyArray<string> {
  if (lines.length <= limit) return lines
  const last = Math.floor(limit / 4)
  const first = limit - last - 1
  return [
    ...lines.slice(0, first),
    `… ${lines.length - first - last} more lines`,
    ...lines.slice(lines.length - last),
  ]
}

/** A line cut into rows of `cells` at most. */
export function wrapLine(line: string, cells: number): ReadonlyArray<string> {
  const rows: string[] = []
  let row = ''
  let width = 0
  for (const character of line) {
    const taken = measureWidth(character)
    if (width + taken > cells && row !== '') {
      rows.push(row)
      row = ''
      width = 0
    }
    row += character
    width += taken
  }
  return [...rows, row]
}

// Strings that end in BEL or ST first, then CSI sequences, then other escapes; 7-bit and 8-bit forms.
const sequences = new RegExp(
  [
    String.raw`(?:\u001b[\]PX^_]|[\u0090\u0098\u009d-\u009f])[^\u0007\u001b\u009c]*(?:\u0007|\u001b\\|\u009c)`,
    String.raw`(?:\u001b\[|\u009b)[0-?]*[ -/]*[@-~]`,
    String.raw`\u001b[ -/]*[0-~]`,
  ].join('|'),
  'g',
)
// All of C0, DEL and C1.
const controls = /(?![\n\t])\p{Cc}/gu
// Controls of direction, blanks without width, tags and the like. Joiners stay: scripts and emoji are written with them.
const invisible =
  /[\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e007f}]/gu
// All of those, joiners too, and letters that show nothing.
const hidden =
  /(?![\n\t])(?:[\p{Cc}\p{Cf}\u2028\u2029\u115f\u1160\u2800\u3164\uffa0]|\u034f|[\u{e0100}-\u{e01ef}])/gu

/** One column of a row as scripts read it: TAB, newline and backslash as `\t`, `\n`, `\\`. */
export function escapeCell(text: string): string {
  if (!/[\\\t\n]/.test(text)) return text
  return text.replaceAll('\\', '\\\\').replaceAll('\t', '\\t').replaceAll('\n', '\\n')
}

/** Terminal cells that a text takes: wide characters two, combining marks none. */
export function measureWidth(text: string): number {
  let width = 0
  for (const character of text) width += isMark.test(character) ? 0 : isWide.test(character) ? 2 : 1
  return width
}

const isMark = /^[\p{Mn}\p{Me}\p{Cf}]$/u
const isWide =
  /^[\p{Emoji_Presentation}\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]$/u

/** The beginning of a text that fits into `cells`, with `…` in place of what was cut. */
export function cutToWidth(text: string, cells: number): string {
  if (measureWidth(text) <= cells) return text
  let kept = ''
  let width = 0
  for (const character of text) {
    width += measureWidth(character)
    if (width > cells - 1) break
    kept += character
  }
  return `${kept}…`
}
