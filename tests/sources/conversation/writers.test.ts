import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeWriterId } from '../../../sources/conversation/ids.ts'
import { writersFolder } from '../../../sources/conversation/paths.ts'
import { isWriterDead, sweepDeadWriters, WriterLock } from '../../../sources/conversation/writers.ts'
import { kill, startLocker, useLockers } from '../files/_processes.ts'
import { HOST, makeRoot, NOW, takeWriter } from './_store.ts'

useLockers()

describe('a writer', () => {
  it('lives as long as it holds its lock, which tells who it is', async () => {
    const root = makeRoot()
    const writer = await takeWriter(root)
    expect(await isWriterDead(root, HOST, writer.id)).toBe(false)
    expect(JSON.parse(readFileSync(path.join(writersFolder(root), writer.id), 'utf8'))).toEqual({
      ...{ pid: 7, hostname: HOST, since: NOW.toISOString() },
    })
    await writer.release()
    expect(await isWriterDead(root, HOST, writer.id)).toBe(true)
    expect(readdirSync(writersFolder(root))).toEqual([])
    await writer.release()
  })

  it('of another process is dead as soon as that was killed', async () => {
    const root = makeRoot()
    await takeWriter(root)
    const id = makeWriterId(HOST, 8, Buffer.alloc(8, 1))
    const { child } = await startLocker(path.join(writersFolder(root), id))
    expect(await isWriterDead(root, HOST, id)).toBe(false)
    await kill(child)
    expect(await isWriterDead(root, HOST, id)).toBe(true)
  })

  it('of another host counts as living, and so does what is no writer', async () => {
    const root = makeRoot()
    const far = makeWriterId('far-away', 7, Buffer.alloc(8))
    expect(await isWriterDead(root, HOST, far)).toBe(false)
    expect(await isWriterDead(root, HOST, 'somebody')).toBe(false)
    expect(await isWriterDead(root, HOST, `../../${makeWriterId(HOST, 7, Buffer.alloc(8))}`)).toBe(false)
    expect(await isWriterDead(root, HOST, makeWriterId(HOST, 7, Buffer.alloc(8)))).toBe(true)
  })

  it('with a strange host name is told from others by its whole id', async () => {
    const root = makeRoot()
    const take = (hostname: string) =>
      WriterLock.take(root, { hostname, pid: 7, random8: Buffer.alloc(8, hostname.length), now: NOW })
    for (const hostname of ['', 'my host/with..dots', 'é'.repeat(300), os.hostname()]) {
      const writer = await take(hostname)
      expect(readdirSync(writersFolder(root))).toEqual([writer.id])
      expect(await isWriterDead(root, hostname, writer.id)).toBe(false)
      await writer.release()
      expect(await isWriterDead(root, hostname, writer.id)).toBe(true)
    }
  })

  it('that is dead is swept, one that lives and other files are not', async () => {
    const root = makeRoot()
    await sweepDeadWriters(root)
    const living = await takeWriter(root)
    const dead = makeWriterId(HOST, 8, Buffer.alloc(8, 1))
    writeFileSync(path.join(writersFolder(root), dead), '')
    writeFileSync(path.join(writersFolder(root), 'notes.txt'), '')
    await sweepDeadWriters(root)
    expect(readdirSync(writersFolder(root)).toSorted()).toEqual([living.id, 'notes.txt'].toSorted())
  })

  it('can be taken while others sweep', async () => {
    const root = makeRoot()
    const sweeps = Array.from({ length: 20 }, () => sweepDeadWriters(root))
    const writers = await Promise.all(Array.from({ length: 12 }, () => takeWriter(root)))
    await Promise.all([...sweeps, sweepDeadWriters(root)])
    expect(readdirSync(writersFolder(root)).toSorted()).toEqual(writers.map(({ id }) => id).toSorted())
    for (const { id } of writers) expect(await isWriterDead(root, HOST, id)).toBe(false)
  })
})
