/** Writes the journal: a line is on the disk before the act that it names is committed. */
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Vault } from '../keys/vault.ts'
import type { Journal } from '../model/journal.ts'
import { syncDirectory } from '../shared/data-directory.ts'
import type { Database } from '../store/db/database.ts'
import {
  closeLine,
  type JournalHead,
  moveJournalHead,
  nameDatabase,
  readJournalHead,
} from '../store/db/journal-head.ts'
import { StoreRefusal } from '../store/db/refusal.ts'
import { type JournalLine, makeLine, readLine } from './lines.ts'

interface JournalParts {
  readonly db: Pick<Database, 'pool'>
  /** Opened for the first line. */
  readonly vault: () => Promise<Vault>
  /** The file of this machine. Several may have the same one, or each its own: the numbers are those of the database. */
  readonly path: string
  readonly now?: () => Date
}

export function createJournal({ db, vault, path, now = () => new Date() }: JournalParts): Journal {
  // One at a time, on one connection: those that wait for the row take none.
  let writing: Promise<unknown> = Promise.resolve()
  const inTurn = (work: () => Promise<number>): Promise<number> => {
    const done = writing.then(work)
    writing = done.catch(() => undefined)
    return done
  }
  return {
    configured: true,
    async write(act, commit) {
      const sequence = await inTurn(async () => {
        const [opened, database] = [await vault(), await nameDatabase(db)]
        const written = await moveJournalHead(db, async (head) => {
          const file = await openFor(path)
          try {
            const { last, whole } = await endOf(file)
            const behind = followsHead(last, head) ? last : head
            const line = await makeLine(opened, { head: behind, database }, act, now())
            // One write: what a kill leaves of it has no end of line, and is no line.
            await file.appendFile(`${whole ? '' : '\n'}${line.text}\n`)
            await file.sync()
            return line.head
          } catch (error) {
            throw failed(path, error)
          } finally {
            await file.close()
          }
        })
        await syncDirectory(dirname(path))
        return written
      })
      const result = await commit()
      // The act is committed whatever becomes of this: a line that stays open is applied once more, which does no harm.
      await closeLine(db, sequence).catch(() => undefined)
      return result
    },
  }
}

async function openFor(path: string): Promise<FileHandle> {
  // Opened anew for each line: a file that was rotated is left alone.
  return open(path, 'a+', 0o600).catch((error: unknown) => {
    throw failed(path, error)
  })
}

/** A failure of the file as a refusal; any other error as it is. */
function failed(path: string, error: unknown): unknown {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null
  if (code === null) return error
  return new StoreRefusal(
    `the journal ${path} cannot be written (${code}), and nothing is done without it: see ROLLCALL_JOURNAL (docs/backup.md)`,
  )
}

/** A line that a killed process wrote, and the database does not know: what comes next follows it. */
const followsHead = (last: JournalLine | null, head: JournalHead): last is JournalLine =>
  last !== null && last.sequence === head.sequence + 1 && last.previous === head.digest.toString('hex')

/** Bytes in which the last line is looked for. Longer ones name many persons. */
const TAIL = 16_777_216

async function endOf(
  file: FileHandle,
): Promise<{ readonly last: JournalLine | null; readonly whole: boolean }> {
  const { size } = await file.stat()
  const length = Math.min(size, TAIL)
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
  const text = buffer.toString()
  const lines = text.split('\n')
  const rest = lines.pop()
  return { last: readLine(lines.at(-1) ?? ''), whole: rest === '' }
}

/**
 * Whether the file has lines that the database does not know: then the database is older than its journal.
 * @throws StoreRefusal it cannot be read
 */
export async function isBehindJournal(db: Pick<Database, 'pool'>, path: string): Promise<boolean> {
  const file = await open(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw failed(path, error)
  })
  if (file === null) return false
  try {
    const { last } = await endOf(file)
    const head = await readJournalHead(db.pool)
    return last !== null && last.sequence > Math.max(head.sequence, head.begun)
  } finally {
    await file.close()
  }
}
