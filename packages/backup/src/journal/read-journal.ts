/** Reads the files of a journal, and finds the acts that a restore must repeat. */
import { readFile } from 'node:fs/promises'
import { systemReason } from '@rollcall/base/shared/system-error'
import type { JournalAct } from '@rollcall/core/model/journal'
import type { JournalHead, JournalPosition } from '@rollcall/database/journal-head'
import { StoreRefusal } from '@rollcall/database/refusal'
import { DecryptionError } from '@rollcall/keys/encrypted-value'
import type { MasterKeySource } from '@rollcall/keys/master-key'
import { decryptWithAnyMasterKey } from '@rollcall/keys/vault'
import { JOURNAL_ENCRYPTION_PURPOSE, type JournalLine, lineBinding, parseJournalLine } from './lines.ts'

/** The acts that a restore repeats, and the line with which the journal ends. */
export interface ActsToRepeat {
  /** First the acts of the lines that were open in the snapshot (`JournalPosition.open`), then those of the lines after it. */
  readonly acts: readonly { readonly at: string; readonly act: JournalAct }[]
  /** The number and digest of the last line; when no line is later than the snapshot, of the last line that the snapshot has. */
  readonly head: JournalHead
}

/**
 * Reads the acts that a restore repeats: those of the lines after the snapshot, and those of the lines `known.open`, whose acts
 * may or may not be in the snapshot. The lines may be spread over several files, and a line may be in more than one.
 * @throws StoreRefusal a file cannot be read; a line was changed, is missing or belongs to another database; two copies of
 * the database wrote lines with the same number; or `source` does not have the master key of a line
 */
export async function readJournal(
  paths: readonly string[],
  source: MasterKeySource,
  known: JournalPosition,
): Promise<ActsToRepeat> {
  const lines = (await Promise.all(paths.map(readJournalLines))).flat()
  refuseOtherDatabases(lines, known)
  const later = [
    ...new Map(
      lines.filter(({ sequence }) => sequence > known.sequence).map((line) => [line.digest.toString('hex'), line]),
    ).values(),
  ].toSorted((one, other) => one.sequence - other.sequence)
  const end = known.digest.toString('hex')
  refuseLinesWithSameNumber(later)
  refuseJournalBehindSnapshot(lines, later, known)
  const reached = new Set([end])
  const acts = []
  for (const line of requireLinesOpenInSnapshot(lines, known)) acts.push({ at: line.at, act: await decryptAct(line, source) })
  for (const line of later) {
    if (!reached.has(line.previous)) {
      throw new StoreRefusal(`line ${line.sequence - 1} of the journal is missing: give all its files, as they were written`)
    }
    reached.add(line.digest.toString('hex'))
    acts.push({ at: line.at, act: await decryptAct(line, source) })
  }
  return { acts, head: later.at(-1) ?? { sequence: known.sequence, digest: known.digest } }
}

/** Refuses lines of another database than that of the snapshot. @throws StoreRefusal */
function refuseOtherDatabases(lines: readonly JournalLine[], { database }: JournalPosition): void {
  if (database === null) return
  const other = lines.find((line) => line.database !== null && line.database !== database)
  if (other === undefined) return
  throw new StoreRefusal(
    `line ${other.sequence} of the journal is of another database: give only the files of the one that is restored`,
  )
}

/**
 * Refuses lines that two copies of a database wrote with the same number, such as production and a database of a restore drill.
 * @param later the lines in order of their numbers
 * @throws StoreRefusal
 */
function refuseLinesWithSameNumber(later: readonly JournalLine[]): void {
  const fork = later.find(
    ({ sequence, incarnation }, at) => later[at - 1]?.sequence === sequence && later[at - 1]?.incarnation !== incarnation,
  )
  if (fork === undefined) return
  throw new StoreRefusal(
    `two copies of the database wrote line ${fork.sequence} of the journal: give only the files of the one that is restored`,
  )
}

/**
 * Returns the lines that were open in the snapshot: their acts were not known to be committed, so the snapshot may lack them.
 * @throws StoreRefusal no file has such a line
 */
function requireLinesOpenInSnapshot(lines: readonly JournalLine[], { open }: JournalPosition): readonly JournalLine[] {
  return open.flatMap((sequence) => {
    const found = lines.filter((one) => one.sequence === sequence)
    if (found.length > 0) return found
    throw new StoreRefusal(
      `line ${sequence} of the journal is missing: its act was not done when the database was copied; give all files`,
    )
  })
}

/** Refuses files that end before the last line that the snapshot knows. @throws StoreRefusal */
function refuseJournalBehindSnapshot(lines: readonly JournalLine[], later: readonly JournalLine[], known: JournalHead): void {
  if (known.sequence === 0 || later.length > 0) return
  if (lines.some(({ digest }) => digest.equals(known.digest))) return
  throw new StoreRefusal(
    `the journal does not have line ${known.sequence}, which the database knows: it is older than the database, ` +
      'or the journal of another one',
  )
}

async function readJournalLines(path: string): Promise<readonly JournalLine[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    throw new StoreRefusal(`the file ${path} of the journal cannot be read: ${systemReason(error)}`)
  })
  const texts = text.split('\n')
  // The text after the last line feed was left by a killed process, which did not commit its act.
  const rest = texts.pop() ?? ''
  const lines = texts.map((one, at) => ({ line: parseJournalLine(one), at }))
  return lines.flatMap(({ line, at }) => {
    if (line !== null) return [line]
    // A killed process, or a full disk, leaves an unfinished line, and the next process writes after it. Unfinished lines are
    // left out if the next other line is whole, or if the file ends without a line feed after them. Else the file was changed.
    const next = lines.slice(at + 1).find((one) => one.line !== null || !isTornLine(texts[one.at]))
    if (isTornLine(texts[at]) && (next === undefined ? rest !== '' : next.line !== null)) return []
    throw new StoreRefusal(`line ${at + 1} of ${path} is no line of a journal: it was changed`)
  })
}

/** True when a line is unfinished: a finished line ends with `}`. */
const isTornLine = (text = ''): boolean => !text.endsWith('}')

/** Decrypts the act of a line. This verifies the whole line, because encryption binds the act to its other members. */
async function decryptAct(line: JournalLine, source: MasterKeySource): Promise<JournalAct> {
  try {
    const opened = await decryptWithAnyMasterKey(source, JOURNAL_ENCRYPTION_PURPOSE, lineBinding(line), line.sealed)
    return JSON.parse(opened.toString()) as JournalAct
  } catch (error) {
    if (!(error instanceof DecryptionError)) throw error
    throw new StoreRefusal(
      `line ${line.sequence} of the journal was changed, or was written under another master key ` +
        '(ROLLCALL_MASTER_KEY, and ROLLCALL_NEW_MASTER_KEY for the one that replaced it)',
    )
  }
}
