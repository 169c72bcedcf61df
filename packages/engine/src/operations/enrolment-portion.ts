/** Writes a portion of an enrolment update in one transaction: its persons' records and ledgers, and the events. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ShortEventLoopTurns } from '@rollcall/base/shared/short-turns'
import { type Beneficiary, InvalidBeneficiary, MOST_RECORD_CHARACTERS } from '@rollcall/core/enrolment/beneficiary'
import { type LedgerScope, mergeUpdate, nextStatusTime, type UpdateOrigin } from '@rollcall/core/enrolment/ledger'
import { readLedger, writeLedger } from '@rollcall/core/enrolment/ledger-text'
import { patchWithoutAliases } from '@rollcall/core/events/merge'
import type { Grant } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import { isRecordGranted } from '@rollcall/core/policy/disclosure'
import type { Database } from '@rollcall/database/database'
import { isWriteConflict, sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import { withTransaction } from '@rollcall/database/transaction'
import { recordChanges } from '@rollcall/delivery/events/record-changes'
import type { RecordingDeps } from '@rollcall/delivery/events/recording'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { type RecordType, readIdentifiers } from '@rollcall/protocol'
import type { RecordWithLedger } from '@rollcall/records/records/enrolment-ledgers'
import { InvalidRecord, prepareRecord } from '@rollcall/records/records/prepare-record'
import type { RecordSink } from '@rollcall/records/records/record-sink'
import type { ClientBase } from 'pg'
import { identifierKeyOf, NoWritablePerson, PeopleByIdentifier, type PersonWithLedger } from './enrolment-people.ts'

/** One item of an enrolment update: a beneficiary, with its position in the message and the origin of the update. */
export interface UpdateEntry {
  readonly position: number
  readonly beneficiary: Beneficiary
  readonly origin: UpdateOrigin
}

/** The result of one entry: why it was rejected; or, if it was written, our remark for the sender in `said` (null: none). */
export type UpdateEntryResult = { readonly rejected: string } | { readonly said: string | null }

/** The registry and record type of a portion, and the dependencies that write its records and events. */
export interface PortionDeps {
  readonly db: Pick<Database, 'pool'>
  readonly registry: Registry
  readonly recordType: RecordType
  readonly sink: RecordSink
  readonly recording: RecordingDeps
}

/** `PortionDeps`, with the grant that decides which records the participant may write. */
export interface PortionWriteDeps extends PortionDeps {
  readonly grant: Pick<Grant, 'rows' | 'identifiers' | 'hidden'>
}

/** Called at the end of a portion's transaction, with the results of its entries, to write more in the same transaction. */
type WriteAfterUpdateEntries = (client: ClientBase, results: ReadonlyMap<number, UpdateEntryResult>) => Promise<void>

/** The most times that a portion is tried while other transactions write the same records. */
const MOST_PORTION_TRIES = 8

/** Thrown when another transaction has added a person of the portion meanwhile. */
class PersonAddedMeanwhile extends Error {
  override readonly name = 'PersonAddedMeanwhile'
}

/**
 * Writes and commits a portion. If the database refuses a value, the portion is halved until the entry with this value is found,
 * and this entry is rejected.
 * @param entries in the order of the message
 * @param finish called with the results of all entries, at the end of the last transaction. If that transaction is tried again,
 * `finish` is called again
 */
export async function writePortion(
  scope: PortionWriteDeps,
  entries: readonly UpdateEntry[],
  finish: WriteAfterUpdateEntries,
): Promise<ReadonlyMap<number, UpdateEntryResult>> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await withTransaction(scope.db.pool, async (client) => {
        const results = await writeEntriesInTransaction(client, scope, entries)
        await finish(client, results)
        return results
      })
    } catch (error) {
      if (attempt < MOST_PORTION_TRIES && (error instanceof PersonAddedMeanwhile || isWriteConflict(error))) continue
      if (!/^(22|54)/.test(sqlStateOrSystemCode(error))) throw error
      return writePortionHalves(scope, entries, finish, sqlStateOrSystemCode(error))
    }
  }
}

/** Writes the first and the second half of a portion. A portion of one entry is not written: the entry is rejected. */
async function writePortionHalves(
  scope: PortionWriteDeps,
  entries: readonly UpdateEntry[],
  finish: WriteAfterUpdateEntries,
  state: string,
): Promise<ReadonlyMap<number, UpdateEntryResult>> {
  const half = Math.ceil(entries.length / 2)
  if (entries.length > 1) {
    const first = await writePortion(scope, entries.slice(0, half), async () => {})
    const both = (second: ReadonlyMap<number, UpdateEntryResult>) => new Map([...first, ...second])
    return both(await writePortion(scope, entries.slice(half), (client, second) => finish(client, both(second))))
  }
  const rejected = `the database cannot store one of its values (SQLSTATE ${state})`
  const results = new Map(entries.map(({ position }) => [position, { rejected }]))
  await withTransaction(scope.db.pool, (client) => finish(client, results))
  return results
}

/** Finds the persons of the entries, and writes their records, ledgers and events in the transaction of `client`. */
async function writeEntriesInTransaction(
  client: ClientBase,
  scope: PortionWriteDeps,
  entries: readonly UpdateEntry[],
): Promise<Map<number, UpdateEntryResult>> {
  await lockRegistryFor(client, scope.registry.id, 'change')
  const found = await findPeople(client, scope, entries)
  const results = new Map<number, UpdateEntryResult>()
  for (let at = 0; at < entries.length; at += ENTRIES_PER_PORTION_PART) {
    // PostgreSQL writes the changes by the earlier parts, while this process applies the entries of the next part. If one of the
    // two fails, the other is waited for: nothing may be written after the rollback.
    const both = await Promise.allSettled([
      writePeople(client, scope, peopleToWrite(scope, found)),
      applyEntriesInMemory(scope, found, entries.slice(at, at + ENTRIES_PER_PORTION_PART), results),
    ])
    for (const one of both) if (one.status === 'rejected') throw one.reason
  }
  const people = peopleToWrite(scope, found)
  await writePeople(client, scope, people)
  await recordEventsOfPeople(client, scope, people)
  return results
}

/** The number of entries in a part, which is applied in memory while the changes by earlier parts are written to the database. */
const ENTRIES_PER_PORTION_PART = 34

/** The most entries that are applied in one turn of the event loop. PostgreSQL's answers are received between turns. */
const MOST_ENTRIES_PER_LOOP_TURN = 5

/**
 * The people whom a portion names. `hidden` has those whom the grant hides; `people` has all others, also new ones. An entry
 * about a hidden person is applied twice: to a new person in `people`, which gives the result for the sender and is not written;
 * and to the person in `hidden`, which is written.
 */
interface FoundPeople {
  readonly people: PeopleByIdentifier
  readonly hidden: PeopleByIdentifier
}

/** Applies entries to their persons, in memory only, and adds the results of the entries to `results`. */
async function applyEntriesInMemory(
  scope: PortionWriteDeps,
  { people, hidden }: FoundPeople,
  entries: readonly UpdateEntry[],
  results: Map<number, UpdateEntryResult>,
): Promise<void> {
  const turns = new ShortEventLoopTurns()
  for (const entry of entries) {
    await (results.size % MOST_ENTRIES_PER_LOOP_TURN === 0 ? nextTurn() : turns.next())
    const result = applyEntryOrReject(scope, people, entry)
    if (!('rejected' in result) && isAboutHiddenPerson(scope, hidden, entry)) applyEntryOrReject(scope, hidden, entry)
    results.set(entry.position, result)
  }
}

/** All people to write. A new person in `people` is left out when a hidden person has the same primary identifier. */
function peopleToWrite(
  { recordType: { primary_identifier: type } }: PortionDeps,
  { people, hidden }: FoundPeople,
): readonly PersonWithLedger[] {
  const isHidden = ({ prepared }: PersonWithLedger): boolean =>
    prepared !== null && hidden.names({ type, value: prepared.primary_identifier })
  return [...people.all.filter((person) => !isHidden(person)), ...hidden.all]
}

/**
 * True when the primary identifier of an entry names a person whom the grant hides. Such an entry is answered as for a
 * new person, and is written into the existing record.
 */
const isAboutHiddenPerson = ({ recordType }: PortionDeps, hidden: PeopleByIdentifier, { beneficiary }: UpdateEntry): boolean =>
  beneficiary.identifiers.some((one) => one.type === recordType.primary_identifier && hidden.names(one))

async function findPeople(
  client: ClientBase,
  { registry, recordType, grant, sink, recording }: PortionWriteDeps,
  entries: readonly UpdateEntry[],
): Promise<FoundPeople> {
  const identifiers = entries.flatMap(({ beneficiary }) => beneficiary.identifiers)
  let named = await sink.findByIdentifiers(client, registry, recordType, identifiers)
  const known = new Set(named.map(identifierKeyOf))
  if (identifiers.some((one) => !known.has(identifierKeyOf(one)))) {
    await sink.lockAddedPersons(client, registry.id)
    named = await sink.findByIdentifiers(client, registry, recordType, identifiers)
  }
  const ids = [...new Set(named.map(({ record }) => record))]
  const records = await sink.lockLedgers(client, registry, recordType, ids)
  const categories = await recording.records.within(client).categories(registry, recordType, ids)
  const isHidden = ({ id }: RecordWithLedger): boolean =>
    categories.get(id)?.some((category) => !grant.hidden.categories.includes(category)) === true
  return {
    people: new PeopleByIdentifier(
      recordType,
      named,
      records.filter((record) => !isHidden(record)),
    ),
    hidden: new PeopleByIdentifier(recordType, named, records.filter(isHidden)),
  }
}

/** Applies an entry to its person as `mergeUpdateIntoPerson` does, and turns a refusal into the result `rejected`. */
function applyEntryOrReject(writing: PortionWriteDeps, people: PeopleByIdentifier, entry: UpdateEntry): UpdateEntryResult {
  try {
    return { said: mergeUpdateIntoPerson(writing, people, entry) ? BENEFIT_REPLACED_REMARK : null }
  } catch (error) {
    // If the grant allows only some records, the text does not say which rule was broken: it could reveal a record that the grant
    // does not allow.
    const isLimited = writing.grant.rows.has(writing.recordType.name)
    if (error instanceof NoWritablePerson && isLimited) return { rejected: NOT_GRANTED_REASON }
    if (error instanceof InvalidBeneficiary) return { rejected: error.message }
    if (error instanceof InvalidRecord) return { rejected: error.reason }
    throw error
  }
}

/**
 * Writes an entry into its person, in memory.
 * @returns true when a benefit is replaced
 * @throws InvalidBeneficiary, InvalidRecord
 */
function mergeUpdateIntoPerson(
  { registry, recordType, recording, grant }: PortionWriteDeps,
  people: PeopleByIdentifier,
  { beneficiary, origin }: UpdateEntry,
): boolean {
  const scope: LedgerScope = { kind: registry.kind, recordType, time_zone: registry.time_zone }
  const person = people.of(beneficiary)
  const isStored = (person.prepared ?? person.before.text) !== null
  if (isStored && !isRecordGranted(grant, recordType, person.document)) throw new NoWritablePerson(NOT_GRANTED_REASON)
  const now = recording.now.getTime()
  const members = patchWithoutAliases(scope, person.document, beneficiary.members, person.aliases)
  const update = { ...beneficiary, members }
  const ledger = person.parsed ?? readLedger(person.ledger)
  // `mergeUpdate` changes the parsed ledger. If a check below rejects the entry, the next entry parses `person.ledger` again.
  person.parsed = null
  const { document, replaced } = mergeUpdate(scope, ledger, person.document, update, origin, now)
  if (ledger.programmes.size > MAX_PROGRAMMES_OF_PERSON) {
    throw new InvalidBeneficiary(`the record would have more than ${MAX_PROGRAMMES_OF_PERSON} programmes`)
  }
  const prepared = prepareRecord(registry.kind, recordType, document)
  if (prepared.document.length > MOST_RECORD_CHARACTERS) {
    throw new InvalidBeneficiary(`the record would be longer than ${MOST_RECORD_CHARACTERS} characters`)
  }
  if (!isRecordGranted(grant, recordType, document)) throw new NoWritablePerson(NOT_GRANTED_REASON)
  const text = writeLedger(ledger)
  if (text.length > MAX_LEDGER_LENGTH) {
    throw new InvalidBeneficiary(`the history of the record would be longer than ${MAX_LEDGER_LENGTH} characters`)
  }
  Object.assign(person, { document, prepared, ledger: text, parsed: ledger, due: nextStatusTime(scope, ledger, now) })
  people.add(person, prepared.identifiers)
  return replaced
}

const NOT_GRANTED_REASON =
  'member.member_identifier: this participant may not write this record, or the identifiers do not name one person; a new person needs the primary identifier'

/** The most programmes of a person, because an update takes longer with each of them. */
const MAX_PROGRAMMES_OF_PERSON = 200

/** The longest ledger of a person, in characters. */
const MAX_LEDGER_LENGTH = 1_048_576

const BENEFIT_REPLACED_REMARK = 'benefits: an earlier benefit of the same type and date was replaced'

/**
 * Writes the records and ledgers that have changed since the transaction last wrote them. The values to write are taken from
 * `people` before the first statement. If a person changes while the statements run, the next call writes that person again.
 */
export async function writePeople(
  client: ClientBase,
  { registry, recordType, sink }: PortionDeps,
  people: readonly PersonWithLedger[],
): Promise<void> {
  const changed = people.flatMap((person) => {
    const { id, written, document, prepared } = person
    if (prepared === null || prepared.document === written.text) return []
    person.written = { text: prepared.document, document }
    const identifiers = id === null ? null : readIdentifiers(registry.kind, recordType, written.document)
    return [{ person, id, prepared, isSame: isDeepStrictEqual(identifiers, prepared.identifiers) }]
  })
  const ledgers = people.flatMap((person) => {
    const { ledger: state, writtenLedger, due } = person
    person.writtenLedger = state
    const next_due = due === null ? null : new Date(due)
    return state === null || state === writtenLedger ? [] : [{ person, state, next_due }]
  })
  const known = changed.flatMap(({ id, prepared }) => (id === null ? [] : [[prepared.primary_identifier, id] as const]))
  const same = changed.filter(({ isSame }) => isSame).map(({ prepared }) => prepared.primary_identifier)
  const records = changed.map(({ prepared }) => prepared)
  const options = { locked: new Map(known), sameIdentifiers: new Set(same) }
  const { inserted, updated } = await sink.writeRecords(client, registry, recordType, records, options)
  if (updated.length > known.length) throw new PersonAddedMeanwhile()
  const ids = new Map([...inserted, ...updated].map((one) => [one.primary_identifier, one.id]))
  for (const { person, prepared } of changed) {
    person.id = ids.get(prepared.primary_identifier) ?? null
    if (person.id === null) throw new PersonAddedMeanwhile()
  }
  const states = ledgers.flatMap(({ person: { id }, ...ledger }) => (id === null ? [] : [{ record: id, ...ledger }]))
  await sink.storeLedgers(client, registry, recordType, states)
}

/** Records the events of the changed records, which `writePeople` has written. */
export async function recordEventsOfPeople(
  client: ClientBase,
  { recordType, recording }: PortionDeps,
  people: readonly PersonWithLedger[],
): Promise<void> {
  const changes = people.flatMap(({ id: record, before, written, aliases }) => {
    if (record === null || written.text === before.text) return []
    const parsed = { before: before.document, after: written.document }
    return [{ record_type: recordType.name, record, before: before.text, after: written.text, parsed, aliases }]
  })
  await recordChanges(client, recording, changes)
}
