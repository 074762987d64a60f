import { Option } from 'clipanion'
import { createBranch } from '../sources/session/createBranch.ts'
import { renameBranch } from '../sources/session/renameBranch.ts'
import { retireBranch } from '../sources/session/retireBranch.ts'
import { usageError } from './argv.ts'
import { BaseCommand } from './base.ts'
import { refuseTogether } from './options.ts'
import { makePlace } from './place.ts'

/** `cass branch`: a new branch at a checkpoint, or another name or end for one. */
export class BranchCommand extends BaseCommand {
  static override paths = [['branch']]
  static override readonly words = 'CHECKPOINT|BRANCH [NAME]'

  static override usage = BaseCommand.Usage({
    category: 'Plumbing',
    description: 'create a branch at a checkpoint, rename one, or retire an empty one',
    details: `
      A branch shares everything up to the checkpoint with the branch it came from, which stays as it is. Tool calls
      that the checkpoint leaves open are answered as not run. Prints the chat id of the branch and nothing else.

      With \`--rename\` the words are BRANCH NAME, with \`--retire\` BRANCH. Only a branch with nothing of its own can be
      retired.
    `,
    examples: [
      ['Branch before the last turn and go on there', '$0 branch @~1 --name retry --switch'],
      ['Branch at a certain record', '$0 branch 2026-06-25-101533-a_-9:4'],
      ['Give a branch another name', '$0 branch --rename retry second-try'],
      ['Take an empty branch out of the lists', '$0 branch --retire retry'],
    ],
  })

  name = Option.String('--name', { description: 'name of the new branch, unique in its family' })
  switch = Option.Boolean('--switch', false, { description: 'make the new branch the current one' })
  rename = Option.Boolean('--rename', false, { description: 'give BRANCH the name NAME' })
  retire = Option.Boolean('--retire', false, { description: 'retire BRANCH, which must be empty' })
  words = Option.Rest({ name: 'CHECKPOINT' })

  async execute(): Promise<number> {
    refuseTogether({ '--rename': this.rename, '--retire': this.retire, '--name': this.name !== undefined })
    refuseTogether({ '--rename': this.rename, '--retire': this.retire, '--switch': this.switch })
    if (this.rename) return await this.#rename()
    if (this.retire) return await this.#retire()
    return await this.#create()
  }

  async #create(): Promise<number> {
    const [checkpoint = ''] = takeWords(this.words, ['CHECKPOINT'])
    const place = makePlace(this.context)
    const created = await createBranch(place, { checkpoint, name: this.name ?? null, switchTo: this.switch })
    const { from, label, ...branch } = created
    const { print, globals } = this.context
    print.note(`branched ${branch.chat_id} from ${from} at ${label}`)
    if (globals.json) print.json(branch)
    else print.data(branch.chat_id)
    return 0
  }

  async #rename(): Promise<number> {
    const [branch = '', name = ''] = takeWords(this.words, ['BRANCH', 'NAME'])
    return this.#print(await renameBranch(makePlace(this.context), { branch, name }))
  }

  async #retire(): Promise<number> {
    const [branch = ''] = takeWords(this.words, ['BRANCH'])
    return this.#print(await retireBranch(makePlace(this.context), { branch }))
  }

  #print(branch: { readonly chat_id: string }): number {
    const { print, globals } = this.context
    if (globals.json) print.json(branch)
    else print.data(branch.chat_id)
    return 0
  }
}

function takeWords(words: ReadonlyArray<string>, names: ReadonlyArray<string>): ReadonlyArray<string> {
  const missing = names[words.length]
  if (missing !== undefined) throw usageError(`'${missing}' is missing`, 'see `cass branch --help`')
  const extra = words[names.length]
  if (extra !== undefined) throw usageError(`unexpected '${extra}'`, 'see `cass branch --help`')
  return words
}
