const longestExcerpt = 400

// Names that providers give to their keys, JSON web tokens, and what follows a word that announces a secret.
const secretShapes: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(authorization["']?\s*[:=]\s*["']?(?:basic|bearer)?\s*)[^\s"',;]{6,}/gi, '$1[redacted]'],
  [/\b(bearer)\s+(?!(?:auth\w*|format|header|scheme|token)\b)[A-Za-z0-9_.~+/=*-]{6,}/gi, '$1 [redacted]'],
  [/\b((?:api|access|secret|auth)[-_ ]?(?:key|token)["']?\s*[:=]\s*["']?)[^\s"',;]{6,}/gi, '$1[redacted]'],
  [/\b(?:sk|pk|rk|gsk|xai|hf|fw|ghp|gho|nvapi|pplx|tgp|r8|key)[-_][A-Za-z0-9_.*-]{8,}/g, '[redacted]'],
  [/\bAIza[A-Za-z0-9_-]{10,}/g, '[redacted]'],
  [/\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_.-]+/g, '[redacted]'],
]

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]+/g

/**
 * Makes text from a provider fit for an error: one line without control characters, without the key and
 * without anything shaped like one, and short. Pure.
 */
export function cleanText(text: string, key: string | null): string {
  let clean = wellFormed(text).replace(controlCharacters, ' ')
  for (const secret of secretForms(key)) clean = clean.replaceAll(secret, '[redacted]')
  for (const [shape, replacement] of secretShapes) clean = clean.replace(shape, replacement)
  clean = clean.replace(/\s+/g, ' ').trim()
  return clean.length > longestExcerpt ? `${wellFormed(clean.slice(0, longestExcerpt))}…` : clean
}

/** The key as it may come back: itself, in a URL, in JSON. Longest first, so that no rest of one stays. */
function secretForms(key: string | null): ReadonlyArray<string> {
  const secret = key?.trim() ?? ''
  // A shorter "key" is a placeholder for a local server; to remove it would only garble messages.
  if (secret.length < 4) return []
  const forms = new Set([secret, encodeURIComponent(wellFormed(secret)), JSON.stringify(secret).slice(1, -1)])
  return [...forms].sort((a, b) => b.length - a.length)
}

/** Half a surrogate pair becomes U+FFFD. */
function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}
