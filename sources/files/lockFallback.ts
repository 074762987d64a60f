import { createHash } from 'node:crypto'
import { closeSync, realpathSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { errnoOf } from '../errors.ts'
import { openLock } from './openLock.ts'

/**
 * Locks for platforms without the native part: a name in the kernel's abstract socket space (Linux) or a named pipe
 * (Windows), which also vanish with their process. They are exclusive only, so a shared lock is exclusive here: two
 * readers wait for each other, nothing is lost.
 */
export async function tryLockWithoutKernel(file: string): Promise<{ release(): Promise<void> } | null> {
  // The file is made all the same: other parts look for it, and its folder must exist as with a kernel lock.
  closeSync(openLock(file))
  const place = path.join(realpathSync(path.dirname(file)), path.basename(file))
  const name = `cass-${createHash('sha256').update(place).digest('hex').slice(0, 40)}`
  const address = process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : `\0${name}`
  const server = createServer((socket) => socket.destroy())
  return new Promise((resolve, reject) => {
    server.once('error', (error) => (errnoOf(error) === 'EADDRINUSE' ? resolve(null) : reject(error)))
    server.listen(address, () => {
      server.unref()
      let held = true
      resolve({
        release: () =>
          new Promise((done) => {
            if (!held) return done()
            held = false
            server.close(() => done())
          }),
      })
    })
  })
}
