/** Reads an entry of the audit log from its row, and checks that the other columns of the row agree with its text. */
import type { StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import { storedMessageIdOrNull } from '../audit-log.ts'
import type { EntryToVerify } from '../store/entry-pages.ts'
import { entryTextOf } from '../store/entry-shape.ts'
import { COMMITMENT_BYTES, entrySearchKeysOf, type UnpackedPerson, unpackPersons } from '../store/packed-persons.ts'

/** An entry as read from its row: the text and the commitments, which its hash covers, and its persons. */
export interface EntryOfRow {
  /** The text of the entry; null when it cannot be built from the row. */
  readonly entry: string | null
  readonly commitments: Buffer
  /** The persons, from the packed bytes of the entry; null when the persons are rows of `account_person`. */
  readonly runs: readonly UnpackedPerson[] | null
  /** The number of persons, erased ones included. */
  readonly persons: number
}

/**
 * Reads the row of an entry: its text, its persons, and its commitments. A commitment is the salted hash of one person
 * (`commitmentOf`).
 */
export function readEntry(row: EntryToVerify): EntryOfRow {
  if (!row.is_packed) {
    const { content, commitments } = row
    return { entry: content, commitments, runs: null, persons: Math.floor(commitments.length / COMMITMENT_BYTES) }
  }
  const runs = row.persons === null ? null : unpackPersons(row.persons)
  const commitments = Buffer.concat((runs ?? []).map(({ commitment }) => commitment))
  const isReadable = runs !== null && row.commitments.length === 0
  return { entry: isReadable ? entryTextOf(row) : null, commitments, runs: runs ?? [], persons: runs?.length ?? 0 }
}

/** True when the columns by which queries find an entry agree with the text of the entry. */
export function areColumnsAsInEntryText(row: EntryToVerify, { entry, runs }: EntryOfRow): boolean {
  try {
    const { request, reply, ...content } = JSON.parse(entry ?? '') as StoredAuditEntry
    if (storedMessageIdOrNull(request) !== row.message_id || storedMessageIdOrNull(reply) !== row.reply_message_id) return false
    const { is_whole, shape, packed, persons, keys, correlation_id, emergency } = row
    if (runs === null) return [shape, packed, persons, keys, correlation_id, emergency].every((one) => one === null)
    const left = runs.flatMap(({ person }) => person ?? [])
    return (
      (shape === null) === is_whole &&
      (packed === null) === is_whole &&
      keys === `{${entrySearchKeysOf(left, content.repeats).join()}}` &&
      emergency === (content.emergency === true) &&
      (correlation_id === null || (shape !== null && correlation_id === content.correlation_id))
    )
  } catch {
    return false
  }
}
