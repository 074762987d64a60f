import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listCheckpoints } from '../sources/session/listCheckpoints.ts'
import type { Place } from '../sources/session/place.ts'
import { prepareDemo } from '../sources/session/prepareDemo.ts'
import { runTurn, type TurnOptions } from '../sources/session/runTurn.ts'
import { BaseCommand } from './base.ts'
import { makePlace } from './place.ts'
import { type Colours, makeColours } from './terminal/colours.ts'
import { makePrinter, type Printer } from './terminal/printer.ts'
import { makeProgress } from './terminal/progress.ts'
import { cutToWidth } from './terminal/text.ts'

/** `cass demo`: the whole program on a small project, each step with the command that a user would type. */
export class DemoCommand extends BaseCommand {
  static override paths = [['demo']]
  static override readonly hasJson = false

  static override usage = BaseCommand.Usage({
    category: 'Porcelain',
    description: 'take a guided tour in a scratch folder, with the demo model',
    details:
      'An edit, the checkpoints, a branch, and what is on disk. No network, no key, and none of your files.',
    examples: [
      ['The tour', '$0 demo'],
      ['The same, for reading at leisure', '$0 demo | less'],
    ],
  })

  async execute(): Promise<number> {
    const place = await prepareDemo(makePlace(this.context), { goesOn: false })
    const colours = await makeColours(this.context, 'stdout')
    const tour = new Tour({ context: this.context, place, colours })
    tour.say('A tour of cass, on its demo model: no network, no key, and none of your files.')
    tour.say(
      `The sample project is in ${place.cwd}. One of its tests fails; the agent is asked to mend that.`,
    )
    await tour.turn('fix the failing test', { target: { type: 'new' }, approve: true })
    tour.say('Every place in that conversation is a checkpoint, down to the single tool call.')
    await tour.command('checkpoints')
    await tour.showEdit()
    tour.say('The conversation goes on where it was.')
    await tour.turn('write a note about the discount', { target: { type: 'continue' }, approve: false })
    tour.say(
      'Another way from before that turn is a branch. Nothing of the first way is lost, and no file is touched.',
    )
    await tour.command('branch', '@~1', '--name', 'retry', '--switch')
    await tour.turn('run the tests', { target: { type: 'branch', branch: 'retry' }, approve: true })
    await tour.command('branches')
    await tour.command('log', '--graph')
    tour.say(
      'On disk, a conversation is one log that only grows, and each branch is a file that jq and you can read.',
    )
    tour.showDisk()
    tour.say('Look around: every command works there, also those above.')
    tour.line(`  cd ${place.cwd}`)
    tour.line(`  export CASS_HOME=${place.root}`)
    tour.line('  cass log')
    tour.say('With a model of your own, in your project: `cass run --base-url URL --model NAME "…"`.')
    tour.line('For good: write providers.json, as README.md shows, then `cass`.')
    return 0
  }
}

/** Runs the steps and shows each; everything goes to stdout, since the tour is what was asked for. */
class Tour {
  readonly #context: BaseCommand['context']
  readonly #place: Place
  readonly #colours: Colours
  readonly #print: Printer

  constructor({
    context,
    place,
    colours,
  }: { readonly context: BaseCommand['context']; readonly place: Place; readonly colours: Colours }) {
    this.#context = context
    this.#place = place
    this.#colours = colours
    const { stdout, terminals, columns } = context
    const both = { stdout: terminals.stdout, stderr: terminals.stdout }
    this.#print = makePrinter({ stdout, stderr: stdout, terminals: both, columns, quiet: false, nul: false })
  }

  say(text: string): void {
    this.line('')
    this.line(text)
  }

  line(text: string): void {
    this.#print.data(text)
  }

  #prompt(words: ReadonlyArray<string>): void {
    const quoted = words.map((word) => (/^[\w@~:.-]+$/.test(word) ? word : `"${word}"`))
    this.line('')
    this.#print.styled(`${this.#colours.bold(`$ cass ${quoted.join(' ')}`)}\n`)
  }

  /** One turn, as `cass run` would do it, with or without approval for the sample project's shell commands. */
  async turn(
    prompt: string,
    { target, approve }: { readonly target: TurnOptions['target']; readonly approve: boolean },
  ): Promise<void> {
    const options = { new: [], continue: ['--continue'], branch: ['--branch', 'retry'] }[target.type]
    this.#prompt(['run', '--demo', ...options, ...(approve ? ['--approve', 'shell'] : []), prompt])
    const { text } = await runTurn(this.#place, {
      ...{ prompt, target, demo: true, maxSteps: null, signal: new AbortController().signal },
      overrides: { model: null, base_url: null, api_key_env: null, access_mode: null },
      approve: async ({ name }) => ({ approved: approve && name === 'shell' }),
      emit: makeProgress(this.#print, this.#colours),
    })
    this.line(text)
  }

  /** A command, run for real. Lists are aligned also in a pipe, since people read them here. */
  async command(...words: string[]): Promise<void> {
    this.#prompt(words)
    const context = this.#context
    await context.run(words, {
      ...context,
      cwd: this.#place.cwd,
      env: { ...context.env, CASS_HOME: this.#place.root, CASS_PAGER: '', NO_COLOR: '1' },
      stderr: context.stdout,
      terminals: { stdin: false, stdout: true, stderr: true },
      columns: context.terminals.stdout ? context.columns : 120,
    })
  }

  /** What the first edit did to its file. */
  async showEdit(): Promise<void> {
    const listed = { branch: null, family: false, kinds: ['tool_call'], limit: null } as const
    const { checkpoints } = await listCheckpoints(this.#place, listed)
    const edit = checkpoints.find(({ label }) => label.endsWith(' edit'))
    if (edit === undefined) return
    this.say('A checkpoint can be looked at, with what it changed.')
    await this.command('show', edit.id, '--diff')
  }

  showDisk(): void {
    const folder = join(this.#place.root, 'conversations')
    this.line('')
    this.#print.styled(`${this.#colours.bold('$ ls $CASS_HOME/conversations')}\n`)
    const names = readdirSync(folder).sort()
    for (const name of names) this.line(name)
    const transcript = names.find((name) => name.endsWith('.jsonl') && !name.endsWith('.events.jsonl'))
    if (transcript === undefined) return
    this.line('')
    this.#print.styled(
      `${this.#colours.bold(`$ head -n 4 $CASS_HOME/conversations/${transcript} | cut -c 1-100`)}\n`,
    )
    const lines = readFileSync(join(folder, transcript), 'utf8').split('\n').slice(0, 4)
    for (const line of lines) this.line(cutToWidth(line, 100))
  }
}
