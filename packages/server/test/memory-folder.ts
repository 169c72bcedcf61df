/** Where tests write: in memory, if it has room. A database is made of some 900 files, which costs a disk ten times as much. */
import { readFileSync, statfsSync } from 'node:fs'

const FOLDER = '/dev/shm'

/** The bytes that must be free. A whole test run needs less than half of them. */
const ROOM = 4_000_000_000

/** The folder in memory that Linux offers; null where there is none, or little room in it, or programs may not run there. */
export function memoryFolder(): string | null {
  try {
    const { bavail, bsize } = statfsSync(FOLDER)
    const [, options = 'noexec'] = / \/dev\/shm tmpfs (\S+)/.exec(readFileSync('/proc/mounts', 'utf8')) ?? []
    return bavail * bsize < ROOM || options.split(',').includes('noexec') ? null : FOLDER
  } catch {
    return null
  }
}
