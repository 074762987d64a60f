/** One word of a command. `text` is what the program gets when nothing in it is expanded. */
export interface ShellWord {
  readonly text: string
  /** The word holds a command substitution or holds a wildcard that may become an option; its value is not known. */
  readonly dynamic: boolean
}

export interface SimpleCommand {
  /** `NAME=value` in front of the command. */
  readonly assignments: ReadonlyArray<string>
  readonly words: ReadonlyArray<ShellWord>
  /** Files that its output redirections open for writing. */
  readonly writesTo: ReadonlyArray<string>
}

export type ParsedShell =
  | {
      readonly type: 'static'
      readonly commands: ReadonlyArray<SimpleCommand>
      /** The texts of command substitutions, to be judged each on its own. */
      readonly substitutions: ReadonlyArray<string>
    }
  /** Grammar that is not understood here; nothing may be concluded about the command. */
  | { readonly type: 'unclear'; readonly reason: string }

class Unclear extends Error {}

const harmlessTargets = new Set(['/dev/null', '/dev/stdout', '/dev/stderr'])

/**
 * Splits the text of a `sh` command at `;`, `&&`, `||`, `|` and line ends into simple commands. Everything whose
 * meaning depends on more than this text (variables, here-documents, compound commands, jobs) is `unclear`.
 */
export function parseShell(command: string): ParsedShell {
  try {
    return new ShellParser(command).parse()
  } catch (error) {
    if (error instanceof Unclear) return { type: 'unclear', reason: error.message }
    throw error
  }
}

class ShellParser {
  private readonly text: string
  private at = 0
  private readonly commands: SimpleCommand[] = []
  private readonly substitutions: string[] = []
  private words: ShellWord[] = []
  private writesTo: string[] = []

  constructor(text: string) {
    this.text = text
  }

  parse(): ParsedShell {
    while (this.at < this.text.length) this.step()
    this.endCommand(true)
    if (this.commands.length === 0) throw new Unclear('the command is empty')
    return { type: 'static', commands: this.commands, substitutions: this.substitutions }
  }

  private step(): void {
    const char = this.text.charAt(this.at)
    if (char === ' ' || char === '\t') this.at += 1
    else if (char === '\\' && this.text.charAt(this.at + 1) === '\n') this.at += 2
    else if (char === '#') this.skipComment()
    else if (char === '\n' || char === ';' || char === '|' || char === '&') this.separator()
    else if (char === '<' || char === '>') this.redirection()
    else if (char === '(' || char === ')') throw new Unclear('it has parentheses')
    else this.word()
  }

  private skipComment(): void {
    const end = this.text.indexOf('\n', this.at)
    this.at = end === -1 ? this.text.length : end
  }

  private separator(): void {
    const rest = this.text.slice(this.at)
    if (rest.startsWith('&>')) {
      this.at += 1
      this.redirection()
      return
    }
    const operator = ['&&', '||', ';', '|', '\n'].find((each) => rest.startsWith(each))
    if (operator === undefined) throw new Unclear('it runs something in the background')
    if (rest.startsWith(';;') || rest.startsWith('|&'))
      throw new Unclear('it has an operator that sh does not share')
    this.at += operator.length
    this.endCommand(operator === '\n' || operator === ';')
  }

  private endCommand(mayBeEmpty: boolean): void {
    if (this.words.length === 0 && this.writesTo.length === 0) {
      if (!mayBeEmpty) throw new Unclear('it has an operator without a command')
      return
    }
    const firstWord = this.words.findIndex((word) => !/^[A-Za-z_]\w*=/.test(word.text))
    const split = firstWord === -1 ? this.words.length : firstWord
    this.commands.push({
      assignments: this.words.slice(0, split).map((word) => word.text),
      words: this.words.slice(split),
      writesTo: this.writesTo,
    })
    this.words = []
    this.writesTo = []
  }

  private redirection(): void {
    const operator = /^(<<|<>|<\(|>\(|<&|<|>>|>\||>&|>)/.exec(this.text.slice(this.at))?.[0] ?? ''
    if (operator === '<<') throw new Unclear('it has a here-document')
    if (operator === '<(' || operator === '>(') throw new Unclear('it has a process substitution')
    this.at += operator.length
    while (this.text.charAt(this.at) === ' ' || this.text.charAt(this.at) === '\t') this.at += 1
    const before = this.words.length
    this.word()
    const target = this.words.pop()
    if (target === undefined || this.words.length !== before || target.text === '') {
      throw new Unclear('it has a redirection without a file')
    }
    if (target.dynamic) throw new Unclear('it redirects to a name that is not known')
    if (operator === '<' || operator === '<&') return
    if (operator === '>&' && /^(\d+|-)$/.test(target.text)) return
    if (!harmlessTargets.has(target.text)) this.writesTo.push(target.text)
  }

  private word(): void {
    const start = this.at
    let text = ''
    let dynamic = false
    for (; this.at < this.text.length; ) {
      const char = this.text.charAt(this.at)
      if (' \t\n;|&()'.includes(char)) break
      if (char === '<' || char === '>') {
        // Digits right before a redirection are a descriptor, no word.
        if (/^\d+$/.test(this.text.slice(start, this.at))) return
        break
      }
      if (char === "'") text += this.singleQuoted()
      else if (char === '"') {
        const quoted = this.doubleQuoted()
        text += quoted.text
        dynamic ||= quoted.dynamic
      } else if (char === '\\') text += this.escaped()
      else if (char === '`' || char === '$') {
        this.substitution()
        dynamic = true
      } else {
        if (char === '{' || char === '}') throw new Unclear('it has braces')
        // `*` and `-*` may stand for a file that is called like an option.
        if ('*?['.includes(char) && (text === '' || text.startsWith('-'))) dynamic = true
        text += char
        this.at += 1
      }
    }
    this.words.push({ text, dynamic })
  }

  private singleQuoted(): string {
    const end = this.text.indexOf("'", this.at + 1)
    if (end === -1) throw new Unclear('a quote is not closed')
    const text = this.text.slice(this.at + 1, end)
    this.at = end + 1
    return text
  }

  private doubleQuoted(): ShellWord {
    let text = ''
    let dynamic = false
    this.at += 1
    while (this.at < this.text.length) {
      const char = this.text.charAt(this.at)
      if (char === '"') {
        this.at += 1
        return { text, dynamic }
      }
      if (char === '\\') {
        const next = this.text.charAt(this.at + 1)
        if (next !== '\n') text += '$`"\\'.includes(next) ? next : `\\${next}`
        this.at += 2
      } else if (char === '`' || char === '$') {
        // A lone `$` at the end of a quoted text, as in a regular expression, is itself.
        if (char === '$' && /^\$["\s|)]/.test(this.text.slice(this.at))) {
          text += char
          this.at += 1
          continue
        }
        this.substitution()
        dynamic = true
      } else {
        text += char
        this.at += 1
      }
    }
    throw new Unclear('a quote is not closed')
  }

  private escaped(): string {
    const next = this.text.charAt(this.at + 1)
    if (next === '') throw new Unclear('it ends in a backslash')
    this.at += 2
    return next === '\n' ? '' : next
  }

  private substitution(): void {
    if (this.text.charAt(this.at) === '`') {
      const end = this.text.indexOf('`', this.at + 1)
      if (end === -1) throw new Unclear('a quote is not closed')
      const inner = this.text.slice(this.at + 1, end)
      if (inner.includes('\\')) throw new Unclear('it has a nested substitution')
      this.substitutions.push(inner)
      this.at = end + 1
      return
    }
    if (!this.text.startsWith('$(', this.at) || this.text.startsWith('$((', this.at)) {
      throw new Unclear('it expands a variable')
    }
    const end = closingParenthesis(this.text, this.at + 2)
    this.substitutions.push(this.text.slice(this.at + 2, end))
    this.at = end + 1
  }
}

/** Where a `$(` ends. Quotes inside are skipped; comments and `case` patterns are not understood. */
function closingParenthesis(text: string, from: number): number {
  let depth = 1
  for (let at = from; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '#' || char === '`') throw new Unclear('it has a nested substitution')
    if (char === '\\') at += 1
    else if (char === "'" || char === '"') {
      const end = text.indexOf(char, at + 1)
      if (end === -1) throw new Unclear('a quote is not closed')
      if (char === '"' && /[\\$`]/.test(text.slice(at, end)))
        throw new Unclear('it has a nested substitution')
      at = end
    } else if (char === '(') depth += 1
    else if (char === ')') {
      depth -= 1
      if (depth === 0) return at
    }
  }
  throw new Unclear('a substitution is not closed')
}
