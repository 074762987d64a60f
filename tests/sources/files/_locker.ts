import { tryLockWithoutKernel } from '../../../sources/files/lockFallback.ts'
import { tryLock } from '../../../sources/files/lockFile.ts'

// Takes a lock, tells whether it has it, and holds it until the process ends.
const [, , file = '', mode = 'exclusive', kind = 'kernel'] = process.argv
const lock =
  kind === 'kernel'
    ? await tryLock(file, mode === 'shared' ? 'shared' : 'exclusive')
    : await tryLockWithoutKernel(file)
process.stdout.write(lock === null ? 'taken\n' : 'held\n')
setInterval(() => {}, 1000)
