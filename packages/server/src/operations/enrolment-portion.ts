/** A portion of an enrolment update: its people, their records and ledgers, and the events, written in one transaction. */
import { setImmediate as turn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { type Beneficiary, InvalidBeneficiary } from '../enrolment/beneficiary.ts'
import { type LedgerScope, nextDue, type Origin, writeUpdate } from '../enrolment/ledger.ts'
import { ledgerText, readLedger } from '../enrolment/ledger-text.ts'
import { withoutAliases } from '../events/merge.ts'
import { recordChanges } from '../events/publish.ts'
import type { Recording } from '../events/recording.ts'
import type { RecordId } from '../model/records.ts'
import type { Registry } from '../model/registry.ts'
import type { Database } from '../store/db/database.ts'
import { withTransaction } from '../store/db/transaction.ts'
import { findNamed, lockAdding, lockLedgers, storeLedgers } from '../store/enrolment/ledgers.ts'
import { lockEvents } from '../store/events/lock.ts'
import { InvalidRecord, prepareRecord } from '../store/records/prepare-record.ts'
import { isConcurrent, sqlState, writeRecords } from '../store/records/record-writer.ts'
import { type Person, PortionPeople } from './enrolment-people.ts'

/** A beneficiary of an update that was read. */
export interface UpdateEntry {
  readonly position: number
  readonly beneficiary: Beneficiary
  readonly origin: Origin
}

/** How a beneficiary is answered. */
export type EntryResult = { readonly rejected: string } | { readonly said: string | null }

export interface PortionScope {
  readonly db: Pick<Database, 'pool'>
  readonly registry: Registry
  readonly recordType: RecordType
  readonly recording: Recording
}

/** Writes in the transaction of a portion, after all else. */
type Finish = (client: ClientBase, results: ReadonlyMap<number, EntryResult>) => Promise<void>

/** How often a portion is tried against writers of the same records. */
const ATTEMPTS = 8

/** Another writer has added a person of the portion meanwhile. */
class Outdated extends Error {
  override readonly name = 'Outdated'
}

/**
 * Writes a portion; what it answers is committed. A value that the database refuses is found by halving.
 * @param entries in the order of the message
 */
export async function writePortion(
  scope: PortionScope,
  entries: readonly UpdateEntry[],
  finish: Finish,
): Promise<ReadonlyMap<number, EntryResult>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withTransaction(scope.db.pool, async (client) => {
        const results = await writeEntries(client, scope, entries)
        await finish(client, results)
        return results
      })
    } catch (error) {
      if (attempt < ATTEMPTS && (error instanceof Outdated || isConcurrent(error))) continue
      if (!/^(22|54)/.test(sqlState(error))) throw error
      return writeHalves(scope, entries, finish, sqlState(error))
    }
  }
}

async function writeHalves(
  scope: PortionScope,
  entries: readonly UpdateEntry[],
  finish: Finish,
  state: string,
): Promise<ReadonlyMap<number, EntryResult>> {
  const half = Math.ceil(entries.length / 2)
  if (entries.length > 1) {
    const first = await writePortion(scope, entries.slice(0, half), async () => {})
    const both = (second: ReadonlyMap<number, EntryResult>) => new Map([...first, ...second])
    return both(
      await writePortion(scope, entries.slice(half), (client, second) => finish(client, both(second))),
    )
  }
  const rejected = `the database cannot store one of its values (SQLSTATE ${state})`
  const results = new Map(entries.map(({ position }) => [position, { rejected }]))
  await withTransaction(scope.db.pool, (client) => finish(client, results))
  return results
}

async function writeEntries(
  client: ClientBase,
  scope: PortionScope,
  entries: readonly UpdateEntry[],
): Promise<Map<number, EntryResult>> {
  const { registry } = scope
  await lockEvents(client, registry.id, 'change')
  const people = await findPeople(client, scope, entries)
  const results = new Map<number, EntryResult>()
  for (const [at, entry] of entries.entries()) {
    results.set(entry.position, writeEntry(scope, people, entry))
    if (at % TURN === TURN - 1) await turn()
  }
  await storePeople(client, scope, people.all)
  return results
}

/** Beneficiaries after which the event loop does other work. */
const TURN = 20

async function findPeople(
  client: ClientBase,
  { registry, recordType }: PortionScope,
  entries: readonly UpdateEntry[],
): Promise<PortionPeople> {
  const identifiers = entries.flatMap(({ beneficiary }) => beneficiary.identifiers)
  let named = await findNamed(client, registry, recordType, identifiers)
  const known = new Set(named.map(({ type, value }) => `${type} ${value}`))
  if (identifiers.some(({ type, value }) => !known.has(`${type} ${value}`))) {
    await lockAdding(client, registry.id)
    named = await findNamed(client, registry, recordType, identifiers)
  }
  const ids = [...new Set(named.map(({ record }) => record))]
  return new PortionPeople(recordType, named, await lockLedgers(client, registry, recordType, ids))
}

function writeEntry(
  { registry, recordType, recording }: PortionScope,
  people: PortionPeople,
  { beneficiary, origin }: UpdateEntry,
): EntryResult {
  const scope: LedgerScope = { kind: registry.kind, recordType, time_zone: registry.time_zone }
  try {
    const person = people.of(beneficiary)
    const ledger = readLedger(person.ledger)
    const now = recording.now.getTime()
    const members = withoutAliases(scope, person.document, beneficiary.members, person.aliases)
    const update = { ...beneficiary, members }
    const { document, replaced } = writeUpdate(scope, ledger, person.document, update, origin, now)
    const prepared = prepareRecord(registry.kind, recordType, document)
    if (prepared.document.length > RECORD_LENGTH) {
      throw new InvalidBeneficiary(`the record would be longer than ${RECORD_LENGTH} characters`)
    }
    Object.assign(person, {
      document,
      prepared,
      ledger: ledgerText(ledger),
      due: nextDue(scope, ledger, now),
    })
    people.add(person, prepared.identifiers)
    return { said: replaced ? REPLACED : null }
  } catch (error) {
    if (error instanceof InvalidBeneficiary) return { rejected: error.message }
    if (error instanceof InvalidRecord) return { rejected: error.reason }
    throw error
  }
}

/** Of a record as text: updates join it, and none may let it grow for ever. */
const RECORD_LENGTH = 1_048_576

const REPLACED = 'benefits: an earlier benefit of the same type and date was replaced'

/** Writes the records and ledgers that have changed, with the events of the records. */
export async function storePeople(
  client: ClientBase,
  { registry, recordType, recording }: PortionScope,
  people: readonly Person[],
): Promise<void> {
  const changed = people.flatMap((person) => {
    const { prepared, before } = person
    return prepared === null || prepared.document === before ? [] : [{ person, prepared }]
  })
  const records = changed.map(({ prepared }) => prepared)
  const known = changed.flatMap(({ person: { id, stored }, prepared }) =>
    id === null ? [] : [{ id, stored, prepared }],
  )
  const same = known.filter(({ stored, prepared: { identifiers } }) =>
    isDeepStrictEqual(readIdentifiers(registry.kind, recordType, stored), identifiers),
  )
  const { inserted, updated } = await writeRecords(client, registry, recordType, records, {
    locked: new Map(known.map(({ id, prepared }) => [prepared.primary_identifier, id])),
    sameIdentifiers: new Set(same.map(({ prepared }) => prepared.primary_identifier)),
  })
  const written = new Map([...inserted, ...updated].map((one) => [one.primary_identifier, one.id]))
  const ids = new Map<Person, RecordId>()
  for (const { person, prepared } of changed) {
    const id = written.get(prepared.primary_identifier)
    if (id === undefined) throw new Outdated()
    ids.set(person, id)
  }
  if (updated.length > known.length) throw new Outdated()
  const ledgers = people.flatMap((person) => {
    const record = ids.get(person) ?? person.id
    const { ledger: state, due } = person
    if (record === null || state === null || state === person.ledgerBefore) return []
    return [{ record, state, next_due: due === null ? null : new Date(due) }]
  })
  await storeLedgers(client, registry, recordType, ledgers)
  const changes = changed.map(({ person, prepared }) => {
    const record = ids.get(person) ?? 0
    const { before, aliases } = person
    return { record_type: recordType.name, record, before, after: prepared.document, aliases }
  })
  await recordChanges(client, recording, changes)
}
