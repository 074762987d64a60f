import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { program } from '../_cass.ts'
import { call, parseEvents, test, type World } from './_world.ts'

const content = 'content\n'.repeat(800)

const script = {
  rules: [
    { when: { user: '^begin' }, reply: 'Begun.' },
    { when: { user: 'go on' }, reply: 'Going on.' },
    { when: { step: 0 }, reply: call('write', { path: 'one.txt', content }) },
    { when: { step: 1 }, reply: call('write', { path: 'one.txt', content: `${content}more\n` }) },
    { when: { step: 2 }, reply: { text: 'Long answer. '.repeat(1500) } },
  ],
}

/** Runs bash with `cass` as a function; what it writes to `$OUT` is what the test looks at. */
async function bash(world: World, text: string, prefix: string[] = []): Promise<string> {
  const out = join(world.folder, 'out')
  mkdirSync(out)
  const [command = '', ...args] = [...prefix, 'bash', '-c', `cass() { "$NODE" "$CASS" "$@"; }\n${text}`]
  const env = { ...world.env, OUT: out, NODE: process.execPath, CASS: program }
  const child = spawn(command, args, { cwd: world.workspace, env, stdio: ['ignore', 'ignore', 'pipe'] })
  let stderr = ''
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  await new Promise((resolve) => child.on('close', resolve))
  expect(stderr).toBe('')
  return out
}

// One turn with too little room, then, with room again, a look and another turn.
const after = `
cass fsck --json > "$OUT/fsck"
cass run --json -c 'go on' > "$OUT/next" 2> "$OUT/next.err"
cass fsck --json > "$OUT/fsck.end"
cass log --json > "$OUT/log"`

function judge(world: World, out: string): void {
  const text = (name: string) => readFileSync(join(out, name), 'utf8')
  const code = Number(text('code'))
  const error = text('full.err')
  expect(error).not.toMatch(/unexpected|\n\s+at /)
  const events = parseEvents(text('full'))
  // Never an end without a word on what is wrong, and where.
  if (code === 0) expect(events.at(-1)).toMatchObject({ type: 'turn_finished' })
  else {
    expect(JSON.stringify(events)).toMatch(/ENOSPC|EFBIG|no space|too large|short_write|bytes were written/i)
    expect(JSON.stringify(events)).toContain(world.cassHome)
  }
  for (const name of ['fsck', 'fsck.end']) {
    const { findings } = JSON.parse(text(name))
    expect(findings.filter(({ severity }: { severity: string }) => severity === 'damage')).toEqual([])
  }
  expect(text('next.err')).toBe('')
  expect(parseEvents(text('next')).at(-1)).toMatchObject({ type: 'turn_finished', stop_reason: 'stop' })
  const { records } = JSON.parse(text('log'))
  const ids = records.map(({ message_id: id }: { message_id: string }) => id)
  for (const event of events) if (event.message_id !== undefined) expect(ids).toContain(event.message_id)
  expect(records.map((record: { content: string }) => record.content)).toEqual(
    expect.arrayContaining(['begin', 'Begun.', 'go on', 'Going on.']),
  )
  const file = join(world.workspace, 'one.txt')
  if (existsSync(file)) expect([content, `${content}more\n`]).toContain(readFileSync(file, 'utf8'))
}

const canMount =
  process.platform === 'linux' &&
  spawnSync('unshare', ['-m', 'mount', '-t', 'tmpfs', 'none', '/tmp']).status === 0

describe.concurrent('a full disk', () => {
  // Kibibytes left: none at all, and so much that another of the turn's writes is the one that fails.
  test.for([0, 4, 8, 16, 28, 40, 64])(
    'with %i KiB left loses nothing that was told',
    async (left, { world, skip }) => {
      skip(!canMount, 'mounting a small file system is not allowed here')
      world.provider.setScript(script)
      // The mount is seen in this shell only, and ends with it.
      const out = await bash(
        world,
        `cp -r "$CASS_HOME" "$OUT/home"
mount -t tmpfs -o size=4m,mode=700 none "$CASS_HOME"
cp "$OUT/home"/* "$CASS_HOME"
cass run begin > /dev/null 2>&1
free=$(df -k --output=avail "$CASS_HOME" | tail -n 1)
head -c $(( (free - ${left}) * 1024 )) /dev/zero > "$CASS_HOME/filler"
cass run --json -c 'do it' > "$OUT/full" 2> "$OUT/full.err"
echo $? > "$OUT/code"
rm "$CASS_HOME/filler"
${after}`,
        ['unshare', '-m'],
      )
      judge(world, out)
    },
  )

  test.for([4, 12, 24])(
    'with files of %i KiB at most loses nothing that was told',
    async (limit, { world, skip }) => {
      skip(process.platform === 'win32', 'there is no such limit')
      world.provider.setScript(script)
      const out = await bash(
        world,
        `cass run begin > /dev/null 2>&1
(trap '' XFSZ; ulimit -f ${limit}; cass run --json -c 'do it' > >(cat > "$OUT/full") 2> "$OUT/full.err"; echo $? > "$OUT/code")
${after}`,
      )
      judge(world, out)
    },
  )
})
