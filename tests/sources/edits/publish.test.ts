import {
  chmodSync,
  closeSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { loadSwap } from '../../../sources/edits/exchange.ts'
import { absentSide, sha256Of, sideOf } from '../../../sources/edits/fileState.ts'
import type { FileSide } from '../../../sources/edits/journalLine.ts'
import { type Publication, type PublishStep, publishFile } from '../../../sources/edits/publish.ts'
import {
  isStored,
  makeFolder,
  makePlace,
  makeSink,
  modeOf,
  newId,
  put,
  readLines,
  tempFiles,
  textOf,
  writeThrough,
} from './_place.ts'

function side(text: string, mode = 0o644): FileSide {
  return sideOf({ sha256: sha256Of(Buffer.from(text)), size: text.length, mode }, true)
}

interface Case {
  readonly before: string | null
  readonly after: string | null
  readonly mode?: number
  readonly at?: PublishStep
  readonly act?: () => void
  readonly withoutSwap?: boolean
}

async function publication(realPath: string, { before, after, mode, at, act, withoutSwap }: Case) {
  const kept: string[] = []
  const value: Publication = {
    realPath,
    lineId: newId(),
    before: before === null ? absentSide : side(before),
    after:
      after === null ? null : { bytes: Buffer.from(after), side: side(after, mode), mode: mode ?? 0o644 },
    keepForeign: async (found) => void kept.push(found.bytes.toString()),
    onReturned: () => {},
    keepOpen: ({ fd }) => closeSync(fd),
    swap: withoutSwap ? null : await loadSwap(),
    onStep: (step) => {
      if (step === at) act?.()
    },
  }
  return { value, kept }
}

describe.each([
  ['with exchange', false],
  ['without exchange', true],
])('publishing %s', (_, withoutSwap) => {
  test('changes, creates and deletes a file, and leaves nothing beside it', async () => {
    const folder = makeFolder()
    const file = path.join(folder, 'a')
    await publishFile((await publication(file, { before: null, after: 'one', withoutSwap })).value)
    expect(textOf(file)).toBe('one')
    await publishFile((await publication(file, { before: 'one', after: 'two', withoutSwap })).value)
    expect(textOf(file)).toBe('two')
    await publishFile((await publication(file, { before: 'two', after: null, withoutSwap })).value)
    expect(existsSync(file)).toBe(false)
    expect(tempFiles(folder)).toEqual([])
  })

  test('changes only the mode, in place', async () => {
    const file = put(makeFolder(), 'a', 'x')
    const { ino } = lstatSync(file)
    await publishFile((await publication(file, { before: 'x', after: 'x', mode: 0o755, withoutSwap })).value)
    expect(modeOf(file)).toBe(0o755)
    expect(lstatSync(file).ino).toBe(ino)
  })

  test.each<[string, (file: string) => void]>([
    ['was written into', (file) => writeFileSync(file, 'theirs')],
    ['got another mode', (file) => chmodSync(file, 0o600)],
    ['was deleted', (file) => unlinkSync(file)],
    [
      'became a link',
      (file) => {
        unlinkSync(file)
        symlinkSync('elsewhere', file)
      },
    ],
    [
      'became a folder',
      (file) => {
        unlinkSync(file)
        mkdirSync(file)
      },
    ],
  ])('leaves a file alone that %s at the last moment', async (_title, act) => {
    const folder = makeFolder()
    const file = put(folder, 'a', 'old')
    const probe = put(makeFolder(), 'a', 'old')
    act(probe)
    const { value, kept } = await publication(file, {
      before: 'old',
      after: 'new',
      at: 'before_exchange',
      act: () => act(file),
      withoutSwap,
    })
    await expect(publishFile(value)).rejects.toMatchObject({ code: 'file_changed' })
    expect(describeEntry(file)).toBe(describeEntry(probe))
    expect(tempFiles(folder)).toEqual([])
    expect(kept).toEqual([])
  })

  test('keeps what was written while a foreign file went back', async () => {
    const folder = makeFolder()
    const file = put(folder, 'a', 'old')
    const { value, kept } = await publication(file, { before: 'old', after: 'new', withoutSwap })
    const onStep = (step: PublishStep) => {
      if (step === 'before_exchange') writeFileSync(file, 'first foreign')
      if (step === 'before_exchange_back') writeFileSync(file, 'second foreign')
    }
    await expect(publishFile({ ...value, onStep })).rejects.toMatchObject({ code: 'file_changed' })
    expect(textOf(file)).toBe('first foreign')
    expect(kept).toEqual(['second foreign'])
    expect(tempFiles(folder)).toEqual([])
  })

  test('gives a foreign file its name back when ours was deleted meanwhile', async () => {
    const folder = makeFolder()
    const file = put(folder, 'a', 'old')
    const { value } = await publication(file, { before: 'old', after: 'new', withoutSwap })
    const onStep = (step: PublishStep) => {
      if (step === 'before_exchange') writeFileSync(file, 'foreign')
      if (step === 'before_exchange_back') unlinkSync(file)
    }
    await expect(publishFile({ ...value, onStep })).rejects.toMatchObject({ code: 'file_changed' })
    expect(textOf(file)).toBe('foreign')
    expect(tempFiles(folder)).toEqual([])
  })

  test('does not create over a file that appeared', async () => {
    const folder = makeFolder()
    const file = path.join(folder, 'a')
    const { value } = await publication(file, {
      before: null,
      after: 'new',
      at: 'before_exchange',
      act: () => writeFileSync(file, 'theirs'),
      withoutSwap,
    })
    await expect(publishFile(value)).rejects.toMatchObject({ code: 'file_changed' })
    expect(textOf(file)).toBe('theirs')
    expect(tempFiles(folder)).toEqual([])
  })

  test('does not delete a file that changed, and stores it if its name is taken again', async () => {
    const folder = makeFolder()
    const file = put(folder, 'a', 'old')
    const { value, kept } = await publication(file, { before: 'old', after: null, withoutSwap })
    const onStep = (step: PublishStep) => {
      if (step === 'before_exchange') writeFileSync(file, 'theirs')
    }
    await expect(publishFile({ ...value, onStep })).rejects.toMatchObject({ code: 'file_changed' })
    expect(textOf(file)).toBe('theirs')
    expect(kept).toEqual([])
    const again = (step: PublishStep) => {
      onStep(step)
      if (step === 'moved_away') writeFileSync(file, 'a third')
    }
    await expect(publishFile({ ...value, onStep: again })).rejects.toMatchObject({ code: 'file_changed' })
    expect(textOf(file)).toBe('a third')
    expect(kept).toEqual(['theirs'])
    expect(tempFiles(folder)).toEqual([])
  })
})

describe('a parent folder', () => {
  test('that is a link is never followed', async () => {
    const folder = makeFolder()
    const file = put(folder, 'real/a', 'old')
    symlinkSync(path.join(folder, 'real'), path.join(folder, 'link'))
    const { value } = await publication(path.join(folder, 'link/a'), { before: 'old', after: 'new' })
    await expect(publishFile(value)).rejects.toMatchObject({ code: 'unsafe_path' })
    expect(textOf(file)).toBe('old')
  })

  test('that becomes a link on the way leads nowhere else', async () => {
    const folder = makeFolder()
    put(folder, 'src/a', 'old')
    const victim = put(folder, 'victim/a', 'old')
    const { value } = await publication(path.join(folder, 'src/a'), {
      before: 'old',
      after: 'new',
      at: 'before_exchange',
      act: () => {
        renameSync(path.join(folder, 'src'), path.join(folder, 'moved'))
        symlinkSync(path.join(folder, 'victim'), path.join(folder, 'src'))
      },
    })
    await publishFile(value).catch(() => undefined)
    expect(textOf(victim)).toBe('old')
  })

  test.runIf(process.platform === 'linux')(
    'that is replaced in the middle does not lead the rest astray',
    async () => {
      const folder = makeFolder()
      put(folder, 'src/a', 'old')
      const victim = put(folder, 'victim/a', 'old')
      const act = () => {
        renameSync(path.join(folder, 'src'), path.join(folder, 'moved'))
        symlinkSync(path.join(folder, 'victim'), path.join(folder, 'src'))
      }
      const file = path.join(folder, 'src/a')
      const { value } = await publication(file, { before: 'old', after: 'new', at: 'exchanged', act })
      await publishFile(value)
      expect([textOf(path.join(folder, 'moved/a')), textOf(victim)]).toEqual(['new', 'old'])
      expect(tempFiles(folder)).toEqual([])
    },
  )

  test('that was made for a file goes again when the file could not be made', async () => {
    const folder = makeFolder()
    const { value } = await publication(path.join(folder, 'a/b/c'), {
      before: null,
      after: 'x',
      at: 'temp_written',
      act: () => {
        throw Object.assign(new Error('disk full'), { code: 'ENOSPC' })
      },
    })
    await expect(publishFile(value)).rejects.toThrow('disk full')
    expect(existsSync(path.join(folder, 'a'))).toBe(false)
  })
})

describe('a publication that fails after its line', () => {
  const steps: PublishStep[] = ['folders_made', 'temp_written', 'before_exchange']

  test.each(steps)('at %s takes the line back and leaves the file', async (at) => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const sink = makeSink(place, { hooks: { onStep: failAt(at) } })
    await expect(writeThrough(sink, file, 'new')).rejects.toMatchObject({ code: 'write_failed' })
    const [edit, taken] = readLines(place)
    expect(taken).toMatchObject({ type: 'void', voids: edit?.id, path: 'a' })
    expect(textOf(file)).toBe('old')
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('when the new bytes are in the file already lets the line stand', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const sink = makeSink(place, { hooks: { onStep: failAt('exchanged') } })
    await expect(writeThrough(sink, file, 'new')).rejects.toMatchObject({ code: 'write_failed' })
    expect(readLines(place).map(({ type }) => type)).toEqual(['edit'])
    expect(textOf(file)).toBe('new')
    expect(tempFiles(place.workspace.root)).toEqual([])
  })

  test('tells of foreign bytes that would have been lost, and ends with what the file is', async () => {
    const place = makePlace()
    const file = put(place.workspace.root, 'a', 'old')
    const onStep = (step: string) => {
      if (step === 'before_exchange') writeFileSync(file, 'first foreign')
      if (step === 'before_exchange_back') writeFileSync(file, 'second foreign')
    }
    await expect(writeThrough(makeSink(place, { hooks: { onStep } }), file, 'new')).rejects.toMatchObject({
      code: 'file_changed',
    })
    const lines = readLines(place)
    expect(lines.map(({ type }) => type)).toEqual(['edit', 'outside', 'void', 'outside'])
    expect(isStored(place, 'second foreign')).toBe(true)
    expect(lines[3]?.before).toEqual(lines[1]?.after)
    expect(lines[3]?.after.sha256).toBe(sha256Of(Buffer.from('first foreign')))
  })
})

function failAt(at: string): (step: string) => void {
  return (step) => {
    if (step === at) throw Object.assign(new Error('injected'), { code: 'EIO' })
  }
}

function describeEntry(file: string): string {
  const stat = lstatSync(file, { throwIfNoEntry: false })
  if (stat === undefined) return 'absent'
  if (stat.isSymbolicLink()) return `link to ${readlinkSync(file)}`
  if (stat.isDirectory()) return 'folder'
  return `${(stat.mode & 0o7777).toString(8)} ${textOf(file)}`
}
