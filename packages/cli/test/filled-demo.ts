/** The data directory of a demo that has run: to make its people and to store them is most of a first start. */
import { execFile } from 'node:child_process'
import { chmod } from 'node:fs/promises'
import { promisify } from 'node:util'
import { madeOnce } from '../../database/test/made-once.ts'
import { dataDirectory, printed, start } from './command.ts'

const run = promisify(execFile)

/** A copy of the one that is made once in a run, with the master key of the run. */
export async function filledDemo(): ReturnType<typeof dataDirectory> {
  const [folder, home] = [await filled(), await dataDirectory()]
  // PostgreSQL's files belong to its own user, and stay so.
  await run('cp', ['-a', `${folder}/.`, home.path])
  return home
}

const filled = (): Promise<string> =>
  madeOnce('demo', async (fresh) => {
    await chmod(fresh, 0o711)
    const first = start(['demo'], { ROLLCALL_DATA: fresh })
    await printed(first, /Ctrl-C stops it/)
    await first.stop()
  })
