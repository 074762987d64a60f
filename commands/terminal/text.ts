/**
 * Removes everything that a terminal would obey instead of showing: escape sequences (CSI, OSC, DCS and the like) and
 * C0 and C1 control characters. Line breaks and tabs stay.
 */
export function stripControls(text: string): string {
  return text.replace(sequences, '').replace(controls, '')
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

/** One column of a row as scripts read it: TAB, newline and backslash as `\t`, `\n`, `\\`. */
export function escapeCell(text: string): string {
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
