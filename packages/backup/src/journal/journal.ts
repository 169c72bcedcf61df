/** Writes the journal. A line is on the disk before its act is committed. */
import { type FileHandle, open, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { syncDirectory } from '@rollcall/base/shared/data-directory'
import { createSemaphore, runInSlot } from '@rollcall/base/shared/semaphore'
import type { Journal } from '@rollcall/core/model/journal'
import type { Database } from '@rollcall/database/database'
import {
  closeJournalLine,
  currentTimeline,
  type DatabaseAndCopyIds,
  type JournalHead,
  mayHaveLostAct,
  moveJournalHead,
  readDatabaseAndCopyIds,
  readJournalHead,
} from '@rollcall/database/journal-head'
import { StoreRefusal, StoreUnavailable } from '@rollcall/database/refusal'
import type { Vault } from '@rollcall/keys/vault'
import { type JournalLine, makeJournalLine, parseJournalLine } from './lines.ts'

interface JournalDeps {
  readonly db: Pick<Database, 'pool'>
  /**
   * Opens the vault, which encrypts the act of a line. It is called only when a line is written: without lines, a process needs
   * no master key.
   */
  readonly vault: () => Promise<Vault>
  /** The file of the journal on this machine. Machines may share one file: the database lets only one process write at a time. */
  readonly path: string
  readonly now?: () => Date
}

export function createJournal({ db, vault, path, now = () => new Date() }: JournalDeps): Journal {
  // Lines are written one after another, so that acts that wait for their turn need no connection to the database.
  const turns = createSemaphore(1)
  return {
    path,
    async examine() {
      const file = await openJournalFile(path)
      await file.close()
    },
    // `close` notes in the database that the act is committed. If `close` fails, the line stays open: a restore then repeats the
    // act, even when the backup has the act already. This does no harm.
    async write(act, commit, close = (line) => closeJournalLine(db, line).catch(() => undefined)) {
      const sequence = await runInSlot(turns, path, async () => {
        const [opened, owner] = [await vault(), await readDatabaseAndCopyIds(db.pool)]
        const written = await moveJournalHead(db, async (head) => {
          const file = await openJournalFile(path)
          try {
            const { last, whole } = await readJournalEnd(file)
            refuseOtherDatabaseJournal(path, last, owner)
            const behind = isLineAfterHead(last, head) ? last : head
            const line = await makeJournalLine(opened, { head: behind, owner }, act, now())
            // `whole` is false when a kill cut off the last line. A line feed then ends that line, and readers ignore it.
            await file.appendFile(`${whole ? '' : '\n'}${line.text}\n`)
            await file.sync()
            return line.head
          } catch (error) {
            throw await toJournalRefusal(path, error)
          } finally {
            await file.close()
          }
        })
        await syncDirectory(dirname(path))
        return written
      })
      const result = await commit()
      await close(sequence)
      return result
    },
  }
}

async function openJournalFile(path: string): Promise<FileHandle> {
  // The file is opened for each line, so that a rotated file is not written any more.
  try {
    const file = await open(path, 'a+', 0o600)
    await giveToFolderOwner(file, path).catch(async (error: unknown) => {
      await file.close()
      throw error
    })
    return file
  } catch (error) {
    throw await toJournalRefusal(path, error)
  }
}

/** Turns an error of the file system into a refusal that names the owner of the file; returns other errors unchanged. */
async function toJournalRefusal(path: string, error: unknown): Promise<unknown> {
  const code = error instanceof Error && 'syscall' in error && 'code' in error ? String(error.code) : null
  if (code === null) return error
  return new StoreUnavailable(
    `the journal ${path} cannot be written (${code}${await describeOwners(path)}), and nothing is done without it: see ROLLCALL_JOURNAL (docs/backup.md)`,
  )
}

/** The owners of file and process in words; empty when the file does not exist, or this process may not look at it. */
async function describeOwners(path: string): Promise<string> {
  const found = await stat(path).catch(() => null)
  if (found === null) return ''
  return `: it belongs to ${describeUser(found.uid)}, and this process runs as ${describeUser(process.geteuid?.() ?? null)}`
}

const describeUser = (uid: number | null): string => (uid === 0 ? 'root' : `uid ${uid ?? 'unknown'}`)

/**
 * True when the file has one line more than the database (by number and digest): a process was killed after it had written that
 * line and before the database noted it. The next line must then follow the last line of the file.
 */
const isLineAfterHead = (last: JournalLine | null, head: JournalHead): last is JournalLine =>
  last !== null && last.sequence === head.sequence + 1 && last.previous === head.digest.toString('hex')

/** The last line is looked for in this many bytes at the end of the file. A line that names many persons is long. */
const TAIL_BYTES = 16_777_216

async function readJournalEnd(file: FileHandle): Promise<{ readonly last: JournalLine | null; readonly whole: boolean }> {
  const { size } = await file.stat()
  const length = Math.min(size, TAIL_BYTES)
  const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
  const text = buffer.toString()
  const lines = text.split('\n')
  const rest = lines.pop()
  return { last: parseJournalLine(lines.at(-1) ?? ''), whole: rest === '' }
}

/**
 * Refuses a file whose last line was written by another database, or by another copy of this one: each restore makes a new copy,
 * with a new `incarnation`. If two copies wrote into one file, neither could be restored from it.
 * @throws StoreRefusal
 */
function refuseOtherDatabaseJournal(path: string, last: JournalLine | null, { database, incarnation }: DatabaseAndCopyIds): void {
  if (last === null) return
  const isOurs = last.database === null || last.database === database
  if (isOurs && last.incarnation === incarnation) return
  throw new StoreRefusal(
    `the journal ${path} was written by another ${isOurs ? 'copy of this database' : 'database'}, and this one does not write ` +
      'into it. A restored database begins a new file: name it in ROLLCALL_JOURNAL, and keep the earlier one (docs/backup.md)',
  )
}

const RESTORE_ADOPT_ADVICE = 'Run rollcall restore adopt (docs/backup.md)'

/**
 * Refuses a database that lacks acts of its journal: it was restored to an earlier time without Rollcall, or PostgreSQL was
 * recovered after the line of an act was written and before the act was committed.
 * @param newest the time of the newest data in the database; null: unknown
 * @throws StoreRefusal the database lacks acts, or the file belongs to another database or copy of it, or is unreadable
 */
export async function refuseDatabaseBehindJournal(
  { pool }: Pick<Database, 'pool'>,
  path: string,
  newest: Date | null = null,
): Promise<void> {
  const [last, timeline] = [await findLastLine(path), await currentTimeline(pool)]
  if (last !== null) refuseOtherDatabaseJournal(path, last, await readDatabaseAndCopyIds(pool))
  const head = await readJournalHead(pool)
  const isOther = (stored: string | null) => stored !== null && timeline !== null && stored !== timeline
  // A process may have been killed after it wrote line `begun` into the file, and before the database noted the line. Its act was
  // never committed, so the database lacks nothing. On another timeline of PostgreSQL, after a recovery, the act may be lost.
  const known = isOther(head.timeline) ? head.sequence : Math.max(head.sequence, head.begun)
  if (last !== null && last.sequence > known) {
    throw new StoreRefusal(
      `the journal has acts that this database does not know: it was restored to an earlier time. ${RESTORE_ADOPT_ADVICE}`,
    )
  }
  if (timeline === null || !(await mayHaveLostAct(pool, timeline, newest))) return
  throw new StoreRefusal(
    `PostgreSQL was recovered, or another machine took over, while an act of the journal was not yet committed. ${RESTORE_ADOPT_ADVICE}`,
  )
}

/** Reads the last line of the journal; null when the file has no line, or does not exist. */
async function findLastLine(path: string): Promise<JournalLine | null> {
  const file = await open(path).catch(async (error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw await toJournalRefusal(path, error)
  })
  if (file === null) return null
  try {
    return (await readJournalEnd(file)).last
  } finally {
    await file.close()
  }
}

/**
 * Gives a new, empty file that root made to the owner of its folder. Root may run a command that makes a file before
 * the service does. The service runs as another user, who could not write that file.
 */
async function giveToFolderOwner(file: FileHandle, path: string): Promise<void> {
  if (process.getuid?.() !== 0 || (await file.stat()).size > 0) return
  const { uid, gid } = await stat(dirname(path))
  await file.chown(uid, gid)
}
