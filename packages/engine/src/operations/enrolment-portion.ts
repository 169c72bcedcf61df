/** Writes a portion of an enrolment update in one transaction: its persons' records and ledgers, and the events. */
import { isDeepStrictEqual } from 'node:util'
import { ShortTurns } from '@rollcall/base/shared/short-turns'
import { type Beneficiary, InvalidBeneficiary, RECORD_LENGTH } from '@rollcall/core/enrolment/beneficiary'
import { type LedgerScope, mergeUpdate, nextStatusTime, type UpdateOrigin } from '@rollcall/core/enrolment/ledger'
import { readLedger, writeLedger } from '@rollcall/core/enrolment/ledger-text'
import { withoutAliases } from '@rollcall/core/events/merge'
import type { Grant } from '@rollcall/core/model/grant'
import type { RecordId } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { isRecordGranted } from '@rollcall/core/policy/disclosure'
import type { Database } from '@rollcall/database/database'
import { isWriteConflict, sqlState } from '@rollcall/database/database-errors'
import { withTransaction } from '@rollcall/database/transaction'
import { recordChanges } from '@rollcall/delivery/events/publish'
import type { Recording } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { LedgerRecord } from '@rollcall/records/records/enrolment-ledgers'
import { InvalidRecord, prepareRecord } from '@rollcall/records/records/prepare-record'
import type { RecordSink } from '@rollcall/records/records/record-sink'
import type { ClientBase } from 'pg'
import { OtherPerson, type Person, PortionPeople } from './enrolment-people.ts'

/** A beneficiary of an update, with its position in the message. */
export interface UpdateEntry {
  readonly position: number
  readonly beneficiary: Beneficiary
  readonly origin: UpdateOrigin
}

/** The result for a beneficiary: why it was rejected, or, if it was written, a remark (null: none). */
export type EntryResult = { readonly rejected: string } | { readonly said: string | null }

/** The registry and record type of a portion, and what its records and events are written with. */
export interface PortionScope {
  readonly db: Pick<Database, 'pool'>
  readonly registry: Registry
  readonly recordType: RecordType
  readonly sink: RecordSink
  readonly recording: Recording
}

/** The scope of a portion, with the grant that decides which records the participant may write. */
export interface WritingScope extends PortionScope {
  readonly grant: Pick<Grant, 'rows' | 'identifiers' | 'hidden'>
}

/** Called at the end of a portion's transaction, with the results of its entries, to write more in it. */
type Finish = (client: ClientBase, results: ReadonlyMap<number, EntryResult>) => Promise<void>

/** How often a portion is tried while other transactions keep writing the same records. */
const ATTEMPTS = 8

/** Thrown when another transaction has added a person of the portion meanwhile. */
class Outdated extends Error {
  override readonly name = 'Outdated'
}

/**
 * Writes and commits a portion. If the database refuses a value, portions are halved until its entry is found, which is
 * rejected.
 * @param entries in the order of the message
 * @param finish called with the results of all entries, at the end of the last transaction, each time that it is tried
 */
export async function writePortion(
  scope: WritingScope,
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
      if (attempt < ATTEMPTS && (error instanceof Outdated || isWriteConflict(error))) continue
      if (!/^(22|54)/.test(sqlState(error))) throw error
      return writeHalves(scope, entries, finish, sqlState(error))
    }
  }
}

async function writeHalves(
  scope: WritingScope,
  entries: readonly UpdateEntry[],
  finish: Finish,
  state: string,
): Promise<ReadonlyMap<number, EntryResult>> {
  const half = Math.ceil(entries.length / 2)
  if (entries.length > 1) {
    const first = await writePortion(scope, entries.slice(0, half), async () => {})
    const both = (second: ReadonlyMap<number, EntryResult>) => new Map([...first, ...second])
    return both(await writePortion(scope, entries.slice(half), (client, second) => finish(client, both(second))))
  }
  const rejected = `the database cannot store one of its values (SQLSTATE ${state})`
  const results = new Map(entries.map(({ position }) => [position, { rejected }]))
  await withTransaction(scope.db.pool, (client) => finish(client, results))
  return results
}

async function writeEntries(
  client: ClientBase,
  scope: WritingScope,
  entries: readonly UpdateEntry[],
): Promise<Map<number, EntryResult>> {
  const { registry } = scope
  await lockRegistryFor(client, registry.id, 'change')
  const { people, hidden } = await findPeople(client, scope, entries)
  const results = new Map<number, EntryResult>()
  const turns = new ShortTurns()
  for (const entry of entries) {
    const result = writeEntry(scope, people, entry)
    if (!('rejected' in result) && isOfHidden(scope, hidden, entry)) writeEntry(scope, hidden, entry)
    results.set(entry.position, result)
    await turns.next()
  }
  const known = people.all.filter(({ prepared }) => !isPrimary(scope, hidden, prepared?.primary_identifier))
  await storePeople(client, scope, [...known, ...hidden.all])
  return results
}

/**
 * True when the primary identifier of an entry names a person whom the grant hides. Such an entry is answered as for a
 * new person, and is written into the existing record.
 */
const isOfHidden = (scope: WritingScope, hidden: PortionPeople, { beneficiary }: UpdateEntry): boolean =>
  beneficiary.identifiers.some(
    ({ type, value }) => type === scope.recordType.primary_identifier && isPrimary(scope, hidden, value),
  )

const isPrimary = (
  { recordType: { primary_identifier: type } }: PortionScope,
  hidden: PortionPeople,
  value: string | undefined,
): boolean => value !== undefined && hidden.names({ type, value })

async function findPeople(
  client: ClientBase,
  { registry, recordType, grant, sink, recording }: WritingScope,
  entries: readonly UpdateEntry[],
): Promise<{ readonly people: PortionPeople; readonly hidden: PortionPeople }> {
  const identifiers = entries.flatMap(({ beneficiary }) => beneficiary.identifiers)
  let named = await sink.findByIdentifiers(client, registry, recordType, identifiers)
  const known = new Set(named.map(({ type, value }) => `${type} ${value}`))
  if (identifiers.some(({ type, value }) => !known.has(`${type} ${value}`))) {
    await sink.lockAddedPersons(client, registry.id)
    named = await sink.findByIdentifiers(client, registry, recordType, identifiers)
  }
  const ids = [...new Set(named.map(({ record }) => record))]
  const records = await sink.lockLedgers(client, registry, recordType, ids)
  const categories = await recording.records.within(client).categories(registry, recordType, ids)
  const isHidden = ({ id }: LedgerRecord): boolean =>
    categories.get(id)?.some((category) => !grant.hidden.categories.includes(category)) === true
  return {
    people: new PortionPeople(
      recordType,
      named,
      records.filter((record) => !isHidden(record)),
    ),
    hidden: new PortionPeople(recordType, named, records.filter(isHidden)),
  }
}

function writeEntry(writing: WritingScope, people: PortionPeople, entry: UpdateEntry): EntryResult {
  try {
    return { said: replacesBenefit(writing, people, entry) ? REPLACED : null }
  } catch (error) {
    // The text does not say which rule was broken: that could reveal a record that the grant does not show.
    if (error instanceof OtherPerson && isBound(writing)) return { rejected: NOT_GRANTED }
    if (error instanceof InvalidBeneficiary) return { rejected: error.message }
    if (error instanceof InvalidRecord) return { rejected: error.reason }
    throw error
  }
}

/** True when the grant allows only some records of the portion's record type. */
const isBound = ({ grant, recordType }: WritingScope): boolean => grant.rows.has(recordType.name)

/**
 * Writes an entry into its person, in memory.
 * @returns true when a benefit is replaced
 * @throws InvalidBeneficiary, InvalidRecord
 */
function replacesBenefit(
  { registry, recordType, recording, grant }: WritingScope,
  people: PortionPeople,
  { beneficiary, origin }: UpdateEntry,
): boolean {
  const scope: LedgerScope = { kind: registry.kind, recordType, time_zone: registry.time_zone }
  const person = people.of(beneficiary)
  const isStored = (person.prepared ?? person.before) !== null
  if (isStored && !isRecordGranted(grant, recordType, person.document)) throw new OtherPerson(NOT_GRANTED)
  const now = recording.now.getTime()
  const members = withoutAliases(scope, person.document, beneficiary.members, person.aliases)
  const update = { ...beneficiary, members }
  const ledger = person.parsed ?? readLedger(person.ledger)
  // `mergeUpdate` changes the parsed ledger. If a later check rejects the entry, the next one parses the text again.
  person.parsed = null
  const { document, replaced } = mergeUpdate(scope, ledger, person.document, update, origin, now)
  if (ledger.programmes.size > MAX_PROGRAMMES) {
    throw new InvalidBeneficiary(`the record would have more than ${MAX_PROGRAMMES} programmes`)
  }
  const prepared = prepareRecord(registry.kind, recordType, document)
  if (prepared.document.length > RECORD_LENGTH) {
    throw new InvalidBeneficiary(`the record would be longer than ${RECORD_LENGTH} characters`)
  }
  if (!isRecordGranted(grant, recordType, document)) throw new OtherPerson(NOT_GRANTED)
  const text = writeLedger(ledger)
  if (text.length > LEDGER_LENGTH) {
    throw new InvalidBeneficiary(`the history of the record would be longer than ${LEDGER_LENGTH} characters`)
  }
  Object.assign(person, { document, prepared, ledger: text, parsed: ledger, due: nextStatusTime(scope, ledger, now) })
  people.add(person, prepared.identifiers)
  return replaced
}

const NOT_GRANTED =
  'member.member_identifier: this participant may not write this record, or the identifiers do not name one person; a new person needs the primary identifier'

/** The most programmes of a person, because an update takes longer with each of them. */
const MAX_PROGRAMMES = 200

/** The longest ledger of a person, in characters. */
const LEDGER_LENGTH = 1_048_576

const REPLACED = 'benefits: an earlier benefit of the same type and date was replaced'

/** Writes the records and ledgers that have changed, and the events of the records. */
export async function storePeople(
  client: ClientBase,
  { registry, recordType, sink, recording }: PortionScope,
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
  const { inserted, updated } = await sink.writeRecords(client, registry, recordType, records, {
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
  await sink.storeLedgers(client, registry, recordType, ledgers)
  const changes = changed.map(({ person, prepared }) => {
    const record = ids.get(person) ?? ''
    const { before, stored, document, aliases } = person
    const parsed = { before: stored, after: document }
    return { record_type: recordType.name, record, before, after: prepared.document, parsed, aliases }
  })
  await recordChanges(client, recording, changes)
}
