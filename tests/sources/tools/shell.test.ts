import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { callVariable } from '../../../sources/tools/processTree.ts'
import { shell } from '../../../sources/tools/shell.ts'
import { type ContextOptions, makeContext, makePlace, type Place } from './_context.ts'

async function run(place: Place, input: object, options: Partial<ContextOptions> = {}) {
  return await shell.run(input, makeContext(place, { mode: 'full-access', ...options }))
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    // A zombie can still be signalled; its parent has to take it away.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

/** The numbers that a command wrote into files of the workspace, once all are there. */
async function pids(place: Place, names: ReadonlyArray<string>): Promise<number[]> {
  const read = (name: string) => {
    const file = path.join(place.workspace, name)
    return existsSync(file) ? Number(readFileSync(file, 'utf8').trim()) : 0
  }
  return await new Promise((resolve) => {
    const look = () => {
      const found = names.map(read)
      if (found.every((each) => each > 0)) resolve(found)
      else setTimeout(look, 5)
    }
    look()
  })
}

describe('shell', () => {
  it('streams each output under its name and gives both with the exit code', async () => {
    const place = makePlace()
    const outcome = await run(place, { command: 'echo hello; echo err >&2; exit 3' })
    expect(outcome).toEqual({ ok: true, content: 'stdout:\nhello\nstderr:\nerr\nexit code: 3', changes: [] })
    expect(place.output).toEqual(
      expect.arrayContaining([
        { stream: 'stdout', content: 'hello\n' },
        { stream: 'stderr', content: 'err\n' },
      ]),
    )
    expect((await run(place, { command: 'true' })).content).toBe('(no output)\nexit code: 0')
    expect((await run(place, { command: 'printf a' })).content).toBe('stdout:\na\nexit code: 0')
    expect((await run(place, { command: 'kill -9 $$' })).content).toContain('exit code: -1\nended by SIGKILL')
  })

  it('runs in the working folder, without input, with the given environment only', async () => {
    const place = makePlace()
    process.env.CASS_TEST_SECRET = 'secret'
    try {
      const { content } = await run(place, { command: 'pwd; cat; env' }, { environment: { SHOWN: 'yes' } })
      expect(content).toContain(`stdout:\n${place.workspace}\n`)
      expect(content).toContain('SHOWN=yes')
      expect(content).not.toContain('secret')
    } finally {
      delete process.env.CASS_TEST_SECRET
    }
  })

  it('keeps characters whole that are cut between two reads', async () => {
    const place = makePlace()
    const { content } = await run(place, {
      command: `printf '\\342'; sleep 0.05; printf '\\202'; sleep 0.05; printf '\\254\\377\\n'`,
    })
    expect(content).toBe('stdout:\n€\ufffd\nexit code: 0')
    expect(place.output.map(({ content: text }) => text).join('')).toBe('€\ufffd\n')
  })

  it('keeps the beginning and the end of long output, and says what is left out', async () => {
    const place = makePlace()
    const { content } = await run(place, { command: 'echo first; seq 1 500000; echo last' })
    expect(content.length).toBeLessThan(100_000)
    expect(content).toMatch(/^stdout:\nfirst\n1\n/)
    expect(content).toMatch(/\n500000\nlast\nexit code: 0$/)
    expect(content).toMatch(/\n… truncated by Cass: \d+ of \d+ characters are left out here …\n/)
    const live = place.output.map(({ content: text }) => text).join('')
    expect(live.length).toBeLessThan(1_200_000)
    expect(live).toMatch(/more output is not shown live\n$/)
  })

  it('ends at the time-out with what was written so far', async () => {
    const place = makePlace()
    const outcome = await run(place, { command: 'echo started; sleep 100', timeout: 1 })
    expect(outcome.ok).toBe(false)
    expect(outcome.content).toBe('command timed out after 1s\nstdout:\nstarted\nexit code: -1')
    expect((await run(place, { command: 'sleep 100', timeout: 0 })).content).toContain('timed out after 0s')
  })

  // Needs setsid and /proc.
  it.skipIf(process.platform !== 'linux')(
    'kills everything that a command started, also what tried to get away',
    async () => {
      const place = makePlace()
      const controller = new AbortController()
      const command = [
        'sleep 1000 & echo $! > plain',
        "setsid sh -c 'echo $$ > session; exec sleep 1000' &",
        "(setsid sh -c 'echo $$ > daemon; exec sleep 1000' &)",
        'sh -c \'trap "" TERM; echo $$ > stubborn; sleep 1000; sleep 1000\' &',
        'wait',
      ].join('\n')
      const running = run(place, { command, timeout: 600 }, { signal: controller.signal })
      const started = await pids(place, ['plain', 'session', 'daemon', 'stubborn'])
      expect(started.map(isAlive)).toEqual([true, true, true, true])
      controller.abort()
      await expect(running).rejects.toThrow()
      await expect.poll(() => started.map(isAlive)).toEqual([false, false, false, false])
      expect(place.holds).toEqual(['hold', 'end'])
    },
  )

  it('stops a cancelled command before it does more', async () => {
    const place = makePlace()
    const controller = new AbortController()
    const running = run(
      place,
      { command: 'echo ready; sleep 1; touch marker' },
      { signal: controller.signal, onOutput: () => controller.abort() },
    )
    await expect(running).rejects.toThrow()
    expect(existsSync(path.join(place.workspace, 'marker'))).toBe(false)
    await expect(run(place, { command: 'touch marker' }, { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(existsSync(path.join(place.workspace, 'marker'))).toBe(false)
  })

  it('does not wait for a background child that keeps the output open, and leaves it alone', async () => {
    const place = makePlace()
    const { ok, content } = await run(place, {
      command: 'sleep 1000 & echo $! > pid; echo done',
      timeout: 600,
    })
    expect({ ok, content }).toEqual({
      ok: true,
      content:
        'stdout:\ndone\nexit code: 0\na process that the command left in the background still holds its output and goes on',
    })
    const [pid = 0] = await pids(place, ['pid'])
    expect(isAlive(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })

  it('holds the workspace while a command runs that may change files, and only then', async () => {
    const place = makePlace()
    await run(place, { command: 'ls' })
    expect(place.holds).toEqual([])
    const seen: string[][] = []
    await run(place, { command: 'echo x | tee a' }, { onOutput: () => seen.push([...place.holds]) })
    expect(seen).toEqual([['hold']])
    expect(place.holds).toEqual(['hold', 'end'])
  })

  it('ends the hold when the command cannot be started, and says why', async () => {
    const place = makePlace()
    const context = makeContext(place, { mode: 'full-access' })
    const outcome = await shell.run(
      { command: 'touch a' },
      { ...context, cwd: path.join(place.root, 'gone') },
    )
    expect(outcome).toMatchObject({ ok: false, content: expect.stringContaining('ENOENT') })
    expect((await run(place, { command: `touch ${'a'.repeat(3_000_000)}` })).content).toContain('E2BIG')
    expect((await run(place, { command: 'touch a\0b' })).ok).toBe(false)
    expect(place.holds).toEqual(['hold', 'end', 'hold', 'end', 'hold', 'end'])
  })

  it('refuses wrong arguments and read-only mode', async () => {
    const place = makePlace()
    const failures = [
      [{}, 'missing field `command`'],
      [{ command: '  ' }, 'command must not be empty'],
      [{ command: 'ls', timeout: -1 }, 'field `timeout`'],
      [{ command: 'ls', timeout: 1.5 }, 'field `timeout`'],
      [{ command: 'ls', timeout: '30' }, 'field `timeout`'],
    ] as const
    for (const [input, message] of failures) {
      const { ok, content } = await run(place, input)
      expect({ ok, content }).toEqual({ ok: false, content: expect.stringContaining(message) })
    }
    expect((await run(place, { command: 'ls' }, { mode: 'read-only' })).content).toBe(
      'shell is unavailable in read-only mode',
    )
  })

  it('survives a huge time-out', async () => {
    const place = makePlace()
    writeFileSync(path.join(place.workspace, 'a'), 'x')
    expect((await run(place, { command: 'cat a', timeout: Number.MAX_SAFE_INTEGER })).content).toBe(
      'stdout:\nx\nexit code: 0',
    )
  })

  it('marks what it starts, so that it can be found again', async () => {
    const place = makePlace()
    expect((await run(place, { command: 'env' })).content).toContain(`${callVariable}=`)
  })
})
