import { Command, type CommandClass } from 'clipanion'
import { CommandBuilder, NoLimits, type RunState } from 'clipanion/lib/core.js'
import { type ParsedArguments, usageError } from './argv.ts'
import type { CommandContext } from './context.ts'
import type { CassCommandClass } from './manifest.ts'

/**
 * Makes the command that was asked for and fills its fields from the parsed words, with clipanion's own options and
 * validators. Clipanion's parser is left out: the words are parsed already (argv.ts), and the state machine that it
 * builds for each start costs more than all the rest of a plumbing command. Throws `usage` errors.
 */
export function bindCommand(
  commandClass: CassCommandClass,
  {
    name,
    options,
    positionals,
    context,
  }: { readonly name: string; readonly context: CommandContext } & Pick<
    ParsedArguments,
    'options' | 'positionals'
  >,
): Command<CommandContext> {
  const hint = `see \`cass ${name} --help\``
  const command = new commandClass()
  const builder: Builder = new CommandBuilder(0, { binaryName: 'cass' })
  const fields = Object.entries(command).filter(isField)
  for (const [key, field] of fields) field.definition(builder, key)
  for (const option of options) {
    if (!builder.allOptionNames.includes(option.name)) {
      throw usageError(`option '${option.name}' does not fit '${name}'`, hint)
    }
  }
  const state = {
    ...emptyState,
    options: [...options],
    positionals: placeWords(positionals, builder.arity, hint),
  }
  try {
    for (const [key, field] of fields)
      Reflect.set(command, key, field.transformer(builder, key, state, context))
  } catch (error) {
    // Only the validators throw, in words for people.
    if (!(error instanceof Error)) throw error
    throw usageError(describe(error.message), hint)
  }
  command.context = context
  command.path = [name]
  return command
}

type Builder = CommandBuilder<{ commandClass: CommandClass<CommandContext> }>
type Arity = Builder['arity']

/** What stands in an option's field until it has its value. */
interface Field {
  definition(builder: Builder, key: string): void
  transformer(builder: Builder, key: string, state: RunState, context: CommandContext): unknown
}

function isField(entry: [string, unknown]): entry is [string, Field] {
  const [, value] = entry
  return typeof value === 'object' && value !== null && Command.isOption in value
}

const emptyState: RunState = {
  candidateUsage: null,
  requiredOptions: [],
  errorMessage: null,
  ignoreOptions: false,
  path: [],
  remainder: null,
  selectedIndex: 0,
  options: [],
  positionals: [],
}

// Required words first, then optional ones or any number; no command has required words behind optional ones.
function placeWords(
  words: ReadonlyArray<string>,
  { leading, extra }: Arity,
  hint: string,
): RunState['positionals'] {
  const missing = leading[words.length]
  if (missing !== undefined) throw usageError(`'${missing}' is missing`, hint)
  const unexpected = extra === NoLimits ? undefined : words[leading.length + extra.length]
  if (unexpected !== undefined) throw usageError(`unexpected '${unexpected}'`, hint)
  const behind = extra === NoLimits ? NoLimits : true
  return words.map((value, index) => ({ value, extra: index < leading.length ? false : behind }))
}

function describe(message: string): string {
  const text = message.replace(/\s+/g, ' ').replace(/\.$/, '')
  return text.charAt(0).toLowerCase() + text.slice(1)
}
