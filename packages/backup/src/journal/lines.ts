/**
 * Lines of the journal: JSON with the encrypted act, which is bound to its line. Each line has the digest of the line
 * before, so that a missing line is noticed.
 */
import { hash } from 'node:crypto'
import type { JournalAct } from '@rollcall/core/model/journal'
import type { DatabaseAndCopyIds, JournalHead } from '@rollcall/database/journal-head'
import type { Vault } from '@rollcall/keys/vault'

export interface JournalLine {
  readonly sequence: number
  /** The SHA-256 of the line before, in hexadecimal; zeros in the first line of the journal. */
  readonly previous: string
  /** The time at which the line was made, as RFC 3339 in UTC. */
  readonly at: string
  /** The id (UUID) of the database that wrote the line; null in lines of earlier versions. */
  readonly database: string | null
  /**
   * The id (UUID) of the copy of the database. Each restore makes a new copy with a new id, and `database` stays the same. Null:
   * the database was never restored, or an earlier version wrote the line.
   */
  readonly incarnation: string | null
  readonly sealed: Buffer
  /** The SHA-256 of this line. */
  readonly digest: Buffer
}

export const JOURNAL_ENCRYPTION_PURPOSE = 'journal'

type LineBindingMembers = Pick<JournalLine, 'sequence' | 'previous' | 'at' | 'database' | 'incarnation'>

/** The place of a line, to which the encryption binds its act: in another line the act does not decrypt. */
export const lineBinding = ({ sequence, previous, at, database, incarnation }: LineBindingMembers) => ({
  table: 'journal',
  id: [sequence, previous, at, database, incarnation].filter((part) => part !== null).join(' '),
})

/**
 * Makes the line of an act.
 * @param head the number and digest of the line before
 * @returns the text of the new line without its line feed, and its number and digest
 */
export async function makeJournalLine(
  vault: Pick<Vault, 'encrypt'>,
  { head, owner }: { readonly head: JournalHead; readonly owner: DatabaseAndCopyIds },
  act: JournalAct,
  now: Date,
): Promise<{ readonly text: string; readonly head: JournalHead }> {
  const place = { sequence: head.sequence + 1, previous: head.digest.toString('hex'), at: now.toISOString(), ...owner }
  const sealed = await vault.encrypt(JOURNAL_ENCRYPTION_PURPOSE, lineBinding(place), Buffer.from(JSON.stringify(act)))
  const text = JSON.stringify({ rollcall_journal: 1, ...place, sealed: sealed.toString('base64') })
  return { text, head: { sequence: place.sequence, digest: hash('sha256', text, 'buffer') } }
}

/** Parses a line; null: the text is no line of a journal. Whether the line was changed is not checked. */
export function parseJournalLine(text: string): JournalLine | null {
  try {
    const line: unknown = JSON.parse(text)
    if (typeof line !== 'object' || line === null) return null
    const { rollcall_journal, sequence, previous, at, sealed, ...names } = line as Record<string, unknown>
    const { database = null, incarnation = null } = names
    if (rollcall_journal !== 1 || !Number.isSafeInteger(sequence)) return null
    if (typeof previous !== 'string' || typeof at !== 'string' || typeof sealed !== 'string') return null
    if (!isTextOrNull(database) || !isTextOrNull(incarnation)) return null
    return {
      sequence: Number(sequence),
      previous,
      at,
      database,
      incarnation,
      sealed: Buffer.from(sealed, 'base64'),
      digest: hash('sha256', text, 'buffer'),
    }
  } catch {
    return null
  }
}

const isTextOrNull = (name: unknown): name is string | null => name === null || typeof name === 'string'
