/**
 * Brings scheduled statuses of enrolments into force: when one begins, the record is written again, with its events. A
 * question about one person that comes before the record is written is answered as if it was written already.
 */

import type { Clock } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import { type LedgerScope, nextStatusTime, parseStoredDocument, recordAtTime } from '@rollcall/core/enrolment/ledger'
import { readLedger, writeLedger } from '@rollcall/core/enrolment/ledger-text'
import type { Limits } from '@rollcall/core/limits'
import type { FoundRecord } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { isUnavailable, safeDatabaseError } from '@rollcall/database/database-errors'
import { oncePerPool } from '@rollcall/database/group-commit'
import { withTransaction } from '@rollcall/database/transaction'
import { compiledFiltersOf } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import type { Log } from '@rollcall/observe/log'
import { canonicalJson, type RecordType, resolveRecordType } from '@rollcall/protocol'
import {
  deleteLedgers,
  findRecordsWithDueStatus,
  type RecordsWithDueStatus,
  type RecordWithLedger,
  readFirstDueStatusTime,
} from '@rollcall/records/records/enrolment-ledgers'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { makePersonWithLedger, type PersonWithLedger } from './enrolment-people.ts'
import { type PortionDeps, recordEventsOfPeople, writePeople } from './enrolment-portion.ts'

/** For each pool, a cache of the time at which the first scheduled status begins; null: none is scheduled. Kept for 500 ms. */
const firstDueTimeCaches = oncePerPool((pool) => createShortLivedCache(() => readFirstDueStatusTime({ pool })))

/** Returns a found record with the scheduled statuses that have begun by now. Nothing is stored. */
export async function applyBegunStatusesInMemory(
  { db, clock }: { readonly db: Database; readonly clock: Pick<Clock, 'date'> },
  registry: Registry,
  recordType: RecordType,
  record: FoundRecord,
): Promise<FoundRecord> {
  const { sink } = recordsOf(db, registry)
  if (sink === null) return record
  const now = new Date(clock.date())
  const first = await firstDueTimeCaches(db.pool).get('')
  if (first === null || first > now) return record
  const state = (await sink.dueLedgers(db, registry, recordType, [record], now)).get(record.id)
  if (state === undefined) return record
  const scope = { kind: registry.kind, recordType, time_zone: registry.time_zone }
  const document = recordAtTime(scope, readLedger(state), parseStoredDocument(record.document), now.getTime())
  return { ...record, document: canonicalJson(document) }
}

/** The dependencies of `applyScheduledStatuses`. */
export interface ScheduledStatusDeps {
  readonly db: Database
  readonly clock: Pick<Clock, 'date'>
  readonly directory: { registryById(id: number): Promise<Registry | undefined> }
  readonly limits: Limits
  readonly log: Pick<Log, 'error'>
}

/** The most records, of all registries, that one statement finds, beside those that have failed in this run. */
const MOST_DUE_RECORDS = 100

/** Writes the records in which a scheduled status has begun. @returns how many were found and did not fail */
export async function applyScheduledStatuses(deps: ScheduledStatusDeps, signal: AbortSignal): Promise<number> {
  const { db, clock } = deps
  let total = 0
  // Records that could not be written. This run skips them; the next run tries them again.
  const failed = new Set<string>()
  const now = new Date(clock.date())
  while (!signal.aborted) {
    const due = (await findRecordsWithDueStatus(db, now, MOST_DUE_RECORDS + failed.size)).flatMap((found) => {
      const records = found.records.filter((id) => !failed.has(dueRecordsSetKey({ ...found, records: [id] })))
      return records.length === 0 ? [] : [{ ...found, records }]
    })
    if (due.length === 0) return total
    for (const found of due) total += await writeDueRecords(deps, found, now, failed)
  }
  return total
}

/** The key of these records in the set `failed`. */
const dueRecordsSetKey = ({ registry, record_type, records }: RecordsWithDueStatus): string =>
  `${registry} ${record_type} ${records.join()}`

/**
 * Writes all records in one transaction; if that fails, each in its own. A record that fails alone is logged, and added
 * to `failed`.
 */
async function writeDueRecords(
  deps: ScheduledStatusDeps,
  due: RecordsWithDueStatus,
  now: Date,
  failed: Set<string>,
): Promise<number> {
  try {
    return await writeDueRecordsTogether(deps, due, now)
  } catch (error) {
    if (isUnavailable(error)) throw error
    const [record, another] = due.records
    if (another === undefined) {
      const { registry, record_type } = due
      failed.add(dueRecordsSetKey(due))
      deps.log.error(
        { registry, record_type, record, ...safeDatabaseError(error) },
        'a scheduled status of an enrolment could not begin; tried again soon',
      )
      return 0
    }
    let total = 0
    for (const id of due.records) total += await writeDueRecords(deps, { ...due, records: [id] }, now, failed)
    return total
  }
}

/** Writes all records in one transaction, or throws and writes none. @returns the number of records */
async function writeDueRecordsTogether(
  { db, directory, limits }: ScheduledStatusDeps,
  due: RecordsWithDueStatus,
  now: Date,
): Promise<number> {
  const { records } = due
  const registry = await directory.registryById(due.registry)
  const recordType = registry && resolveRecordType(registry.kind, due.record_type)
  await withTransaction(db.pool, async (client) => {
    const opened = registry && recordsOf(db, registry)
    const sink = opened?.sink ?? null
    if (registry === undefined || recordType === undefined || opened === undefined || sink === null) {
      return deleteLedgers(client, due, records)
    }
    await lockRegistryFor(client, registry.id, 'change')
    const recording = { registry, records: opened, now, limits, filters: compiledFiltersOf(db.pool) }
    const scope: PortionDeps = { db, registry, recordType, sink, recording }
    const locked = await sink.lockLedgers(client, registry, recordType, records)
    const there = new Set(locked.map(({ id }) => id))
    await deleteLedgers(
      client,
      due,
      records.filter((id) => !there.has(id)),
    )
    const people = locked.flatMap((record) => beginDueStatuses(scope, record, now))
    await writePeople(client, scope, people)
    await recordEventsOfPeople(client, scope, people)
  })
  return records.length
}

/**
 * Changes the statuses that are due, in memory. Returns the person to write; an empty array when the ledger was deleted.
 * @throws InvalidRecord the record cannot be written any more, such as after a change of its identifier types
 */
function beginDueStatuses(
  { registry, recordType }: PortionDeps,
  record: RecordWithLedger,
  now: Date,
): readonly PersonWithLedger[] {
  // `state` is the stored ledger. Null: the ledger was deleted after a due status was found in it.
  if (record.state === null) return []
  const scope: LedgerScope = { kind: registry.kind, recordType, time_zone: registry.time_zone }
  const person = makePersonWithLedger(record)
  const ledger = readLedger(record.state)
  person.document = recordAtTime(scope, ledger, person.document, now.getTime())
  person.due = nextStatusTime(scope, ledger, now.getTime())
  person.ledger = writeLedger(ledger)
  // `writePeople` skips a ledger that is equal to `writtenLedger`. Null makes it store the ledger even if unchanged, because the
  // time of the next scheduled status is stored with the ledger.
  person.writtenLedger = null
  person.prepared = prepareRecord(registry.kind, recordType, person.document)
  return [person]
}
