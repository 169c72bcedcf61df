/** Writes the audit log. Entries that arrive while a commit runs are committed together in the next commit. */
import { randomUUID } from 'node:crypto'
import type { Clock } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import type { AuditEntry, AuditedPerson, AuditLog, StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import { messageIdKey } from '@rollcall/core/model/exchange'
import type { Database } from '@rollcall/database/database'
import { isCheckViolation, isValueRefusal, StoreBusy } from '@rollcall/database/database-errors'
import { createGroupCommit } from '@rollcall/database/group-commit'
import type { JointWrite } from '@rollcall/database/joint-write'
import { isTextStorable } from '@rollcall/database/text'
import type { Vault } from '@rollcall/keys/vault'
import type { Log } from '@rollcall/observe/log'
import type { Metrics } from '@rollcall/observe/metrics'
import { entryHash, firstPreviousHash } from './chain.ts'
import { type ChainEnd, type CheckpointSigner, createCheckpointSigner } from './checkpoints.ts'
import { encryptConfidentialDetails } from './confidential.ts'
import { type AuditKeys, createAuditKeyLoader } from './keys.ts'
import { packedPersonsOf } from './persons.ts'
import { type CachedShape, createShapeCache, type EntryShapes } from './shapes.ts'
import { commitmentOf, entrySearchKeysOf, type PackedPerson, packPersons } from './store/packed-persons.ts'
import { type JointRow, type NewEntry, readDatabaseTime, writeEntries } from './store/write-entries.ts'
import { createWitness } from './witness.ts'
import type { WitnessAddress } from './witness-target.ts'

export interface AuditLogDeps {
  readonly db: Database
  /** Opens the vault; called for the first entry, and again after a failure. */
  readonly vault: () => Promise<Vault>
  readonly clock: Pick<Clock, 'now' | 'later'>
  readonly limits: Pick<Limits, 'checkpoint_interval' | 'checkpoint_entries'>
  readonly log: Pick<Log, 'error' | 'info'>
  readonly metrics: AuditMetrics
  readonly witness: WitnessAddress | null
}

/** The most entries that wait to be written. Further calls are refused, so that memory is not exhausted. */
const MOST_WAITING_ENTRIES = 10_000

export type AuditMetrics = Pick<Metrics, 'audited' | 'checkpointMade' | 'witnessed'>

/** An audit log that can also write an entry together with a row of another package. */
export interface AuditLogWithRowWrites extends AuditLog {
  /**
   * Writes an entry and a row of another package in one statement.
   * @returns false: neither the row nor the entry was written, for example because another transaction locks the row
   */
  writeWith<Row>(joint: JointWrite<Row>, row: Row, entry: AuditEntry, persons: readonly AuditedPerson[]): Promise<boolean>
}

export interface ClosableAuditLog extends AuditLogWithRowWrites {
  /** Refuses further entries, waits for entries under way, and signs the end of the chain. Never rejects. */
  close(): Promise<void>
}

export function createAuditLog(deps: AuditLogDeps): ClosableAuditLog {
  const { db, vault, clock } = deps
  const keys = createAuditKeyLoader(db, vault)
  const drift = { offset: 0 }
  const checkpoints = createCheckpointSigner({
    ...deps,
    witness: createWitness(deps.witness, { ...deps, later: clock.later }),
    keys,
    time: () => clock.now() + drift.offset,
  })
  const writer = createChainWriter(deps, checkpoints, drift)
  const group = createGroupCommit(writer.write, { waiting: MOST_WAITING_ENTRIES })
  let closed = false

  const submit = async (entry: AuditEntry, persons: readonly AuditedPerson[], joint: JointRow | null) => {
    const current = await keys()
    // An entry after the signed end of its chain would be a fault in the audit log.
    if (closed) throw new StoreBusy()
    return group.submit({ entry, persons: packedPersonsOf(current.pseudonyms, persons), keys: current, joint })
  }

  return {
    async write(entry, persons) {
      await submit(entry, persons, null)
    },
    writeWith: (write, row, entry, persons) => submit(entry, persons, { write, row }),
    async close() {
      closed = true
      await group.idle()
      writer.end()
      await checkpoints.close()
    },
  }
}

/**
 * Creates the writer that adds entries at the end of the chain of this process.
 * @param drift each write sets its `offset`: the milliseconds from our monotonic clock to the database's time
 */
function createChainWriter(
  { db, clock, metrics }: AuditLogDeps,
  checkpoints: CheckpointSigner,
  drift: { offset: number },
): {
  /**
   * Writes entries. @returns for each entry, true when it was written; false: its joint row (of another package) could not be
   * locked, found or inserted (`JointWrite.held`), for example because another transaction locks the row
   */
  readonly write: (entries: readonly EntryWithPackedPersons[]) => Promise<readonly boolean[]>
  readonly end: () => void
} {
  const shapes = createShapeCache()
  let chain: WritableChain | null = null
  /**
   * Appends entries. Returns the new end of the chain, and the indexes in `entries` of those whose joint row could not be locked,
   * found or inserted. If any index is returned, no entry was written.
   */
  const append = async (
    current: WritableChain,
    entries: readonly EntryWithPackedPersons[],
  ): Promise<readonly [WritableChain, readonly number[]]> => {
    const at = Math.max(current.at, Math.trunc(clock.now() + current.offset))
    const { rows, hash } = makeEntryRows(shapes, current, new Date(at).toISOString(), entries)
    const used = [...new Set(rows.flatMap(({ shape }) => shape ?? []))]
    const fresh = used.filter(({ stored }) => !stored)
    const sent = clock.now()
    const place = { chain: current.id, after: current.sequence, at: new Date(at) }
    const written = await writeEntries(db.entries, place, rows, { fresh, stored: used.filter(({ stored }) => stored) })
    for (const shape of fresh) shape.stored = true
    drift.offset = written.at.getTime() - (sent + clock.now()) / 2
    if (written.unheld.length > 0) return [current, written.unheld]
    return [{ id: current.id, sequence: current.sequence + entries.length, hash, at, offset: drift.offset }, []]
  }
  const write = async (entries: readonly EntryWithPackedPersons[]): Promise<readonly boolean[]> => {
    let current: WritableChain = chain ?? (await beginChain(db, clock))
    // The chain stays null until the commit: after a failure its end is unknown, and the next entry begins another chain.
    chain = null
    let held = entries
    try {
      for (let isWritten = false; !isWritten && held.length > 0; ) {
        const [end, unheld] = await append(current, held).catch((error: unknown) => {
          if (!isCheckViolation(error, 'account_entry_form_check')) throw error
          // The database has lost a shape: a standby took over. Nothing was written, so the entries are sent again with
          // the shapes.
          shapes.forget()
          return append(current, held)
        })
        current = end
        isWritten = unheld.length === 0
        held = held.filter((_, place) => !unheld.includes(place))
      }
      chain = current
      if (held.length > 0) checkpoints.committed(chain)
    } catch (error) {
      if (isValueRefusal(error)) {
        // PostgreSQL has refused a value and written nothing, so the chain goes on.
        chain = current
      } else {
        checkpoints.abandoned(current.id)
        shapes.forget()
      }
      metrics.audited('failed', entries.length)
      throw error
    }
    metrics.audited('written', held.length)
    return entries.map((entry) => held.includes(entry))
  }
  return {
    write,
    end: () => {
      chain = null
    },
  }
}

interface EntryWithPackedPersons {
  readonly entry: AuditEntry
  readonly persons: readonly PackedPerson[]
  readonly keys: AuditKeys
  readonly joint: JointRow | null
}

/** The row of an entry, with its shape as this process knows it. */
interface EntryRowWithShape extends NewEntry {
  readonly shape: CachedShape | null
}

/** A chain, as its last committed entry left it. */
interface WritableChain extends ChainEnd {
  /** Milliseconds to add to the monotonic clock of this process to get the database's time. */
  readonly offset: number
}

async function beginChain(db: Database, { now }: Pick<Clock, 'now'>): Promise<WritableChain> {
  const id = randomUUID()
  const offset = (await readDatabaseTime(db.pool)).getTime() - now()
  return { id, sequence: 0, hash: firstPreviousHash(id), at: 0, offset }
}

/** Makes the rows of entries that follow the end of a chain. Also returns the hash of the last row. */
function makeEntryRows(
  shapes: EntryShapes,
  { id: chain, sequence: last, hash: previous }: WritableChain,
  at: string,
  entries: readonly EntryWithPackedPersons[],
): { readonly rows: readonly EntryRowWithShape[]; readonly hash: Buffer } {
  let hash = previous
  const rows = entries.map(({ entry, persons, keys, joint }, index) => {
    const sequence = last + index + 1
    const columns = { message_id: storedMessageIdOrNull(entry.request), reply_message_id: storedMessageIdOrNull(entry.reply) }
    const { text, ...composed } = shapes.compose(toStoredAuditEntry(entry, keys, { chain, sequence }), columns)
    const commitments = Buffer.concat(persons.map(commitmentOf))
    hash = entryHash(hash, { chain, sequence, at, entry: text, commitments })
    return {
      ...composed,
      ...columns,
      entry: composed.shape === null ? text : null,
      persons: packPersons(persons),
      keys: entrySearchKeysOf(persons, entry.repeats),
      hash,
      emergency: entry.emergency === true,
      joint,
    }
  })
  return { rows, hash }
}

function toStoredAuditEntry(
  entry: AuditEntry,
  { confidential: key }: AuditKeys,
  place: { readonly chain: string; readonly sequence: number },
): StoredAuditEntry {
  if (entry.confidential === undefined) return entry
  const { confidential, ...content } = entry
  return { ...content, sealed: encryptConfidentialDetails(key, place, confidential) }
}

/** The stored form of the message_id, by which an entry is found; null when there is none, or it cannot be stored. */
export function storedMessageIdOrNull(message: AuditEntry['request']): string | null {
  const message_id = message?.message_id ?? null
  return message_id === null || !isTextStorable(message_id) ? null : messageIdKey(message_id)
}
