/** Erases a person from what Rollcall has stored beside the records. */

import { type AuditSigner, loadAuditKeys } from '@rollcall/audit/keys'
import { pseudonymOf } from '@rollcall/audit/persons'
import { countPersonRows, erasePersonsOfPseudonyms, type PersonPlace } from '@rollcall/audit/store/erase-persons'
import { lockHolds } from '@rollcall/audit/store/prune-entries'
import { insertTombstone } from '@rollcall/audit/store/tombstones'
import { signTombstone } from '@rollcall/audit/tombstones'
import type { JournalAct } from '@rollcall/core/model/journal'
import { bodyKeyRetentionSeconds, SECONDS_PER_DAY } from '@rollcall/core/model/retention'
import { commitJournaledWork } from '@rollcall/database/commit-journaled'
import type { Database } from '@rollcall/database/database'
import { erasePersonOfEndedHolds, holdIdsOfPerson, listHolds } from '@rollcall/database/holds'
import { countNotificationsToErase, eraseNotifications } from '@rollcall/delivery/store/events/erasing'
import { deleteOutboxRows, findOutboxRowsAbout } from '@rollcall/delivery/store/events/outbox'
import { countDeletionTraces, forgetDeletionTraces } from '@rollcall/records/records/forget-traces'
import type { Kysely } from 'kysely'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { closed, flag, instant, isoTime, markPersonal, Namespace, RecordTypeName, text, wholeNumber } from '../members.ts'
import { type FoundPerson, findPerson, type RecordOfPerson } from './person.ts'
import { checkOwnsAuditLog, type RetentionDeps } from './retention.ts'
import { listRecordAndRetiredIds } from './with-merged.ts'

/**
 * Deletes the pseudonyms and salts of a person in the audit log, except those that a hold of a participant or period
 * keeps. Deletes rows of the outbox with an identifier of the person, withdraws waiting notifications, and forgets traces
 * of deleted records. The hash chain still verifies: a signed tombstone says what is missing. Records stay: they are the
 * registry's to delete. The audit entry of the act does not name the person: the name would bring back what is erased.
 */
export const erasePerson = defineAct(
  {
    name: 'erase person',
    approval: {
      when: 'always',
      role: 'own',
      confidential: ['value', 'reason'],
      async concerns({ db, owner = db }: RetentionDeps, { type, value, dry_run = false }) {
        if (dry_run) return null
        await checkOwnsAuditLog(owner)
        const { identifiers, records } = await findPerson(db, { type, value })
        return {
          // A second operator sees the identifier type, the number of identifiers, and the namespace and record type of each
          // record. None of these names the person.
          about: { type, identifiers: identifiers.length, records: records.map(recordPlaceOf) },
          wanted: { erases: 'a person, from the audit log and from what waits to be sent' },
        }
      },
    },
    input: closed({
      type: text('An identifier type.'),
      value: markPersonal(text('Its value.')),
      reason: Type.String({
        minLength: 1,
        maxLength: 1_000,
        description: 'Why, without personal data: it is in the tombstone for ever.',
      }),
      dry_run: Type.Optional(flag('Only count.')),
    }),
    result: closed({
      dry_run: flag('Whether nothing was erased.'),
      identifiers: wholeNumber('Identifiers by which the person was looked for.'),
      accounts: closed({
        entries: wholeNumber('Entries that named the person.'),
        rows: wholeNumber('Pseudonyms with their salts that are erased.'),
        held: wholeNumber('Pseudonyms that a hold of a participant or period keeps.'),
      }),
      notifications: wholeNumber('Waiting notifications that are withdrawn.'),
      underway: wholeNumber('Messages with notifications about the person that are being sent.'),
      outbox: Type.Optional(
        wholeNumber('Waiting and failed rows of the outbox with an identifier of the person that are deleted.'),
      ),
      tombstones: wholeNumber('Tombstones of deleted records that are forgotten.'),
      stored_until: instant('When the last stored message that may name the person is erased.'),
      records: Type.Array(closed({ namespace: Namespace, record_type: RecordTypeName }), {
        description: 'Records of the person that are there. They are deleted by rollcall record delete.',
      }),
    }),
  },
  async (deps: RetentionDeps, { type, value, reason, dry_run = false }, _, checkDecision) => {
    const { db, owner = db, limits, now = () => new Date() } = deps
    if (!dry_run) await checkOwnsAuditLog(owner)
    const keys = await loadAuditKeys(db, await deps.vault())
    const findErasable = async (connection: Kysely<unknown>) => {
      const person = await findPerson(db, { type, value })
      const pseudonyms = person.identifiers.map((identifier) => pseudonymOf(keys.pseudonyms, identifier))
      const [hold] = await holdIdsOfPerson(db.pool, pseudonyms)
      if (hold !== undefined) {
        throw new AdminRefusal(`hold ${hold} covers this person: nothing is erased while it is in force`, { reason: 'conflict' })
      }
      return { person, pseudonyms, counted: await countPersonRows(connection, pseudonyms) }
    }
    const erase = async () => {
      let beside = ZERO_ROW_COUNTS
      const done = await commitJournaledWork(
        { kysely: owner.kysely, journal: db.journal },
        async (transaction) => {
          await lockHolds(transaction)
          await checkDecision(db)
          const found = await findErasable(transaction)
          const holds = (await listHolds(db)).map(({ id }) => id)
          const erased = await erasePseudonyms(transaction, { signer: keys.signer, now }, found.pseudonyms, reason)
          return { ...found, holds, erased }
        },
        ({ person, pseudonyms, holds }) => makeErasureAct(person, pseudonyms, { reason, holds }),
        async ({ person }) => {
          beside = await eraseEventsAndTraces(db, person, false)
        },
      )
      return { ...done, beside }
    }
    const count = async () => {
      const found = await findErasable(owner.kysely)
      const { rows, held } = found.counted
      return { ...found, erased: rows - held, beside: await eraseEventsAndTraces(db, found.person, true) }
    }
    const { person, counted, erased, beside } = await (dry_run ? count() : erase())
    return {
      dry_run,
      identifiers: person.identifiers.length,
      accounts: { entries: counted.entries, rows: erased, held: counted.held },
      ...beside,
      stored_until: isoTime(endOfBodyKey(now(), bodyKeyRetentionSeconds(limits))),
      records: person.records.map(recordPlaceOf),
    }
  },
)

const recordPlaceOf = ({ registry, recordType }: RecordOfPerson) => ({
  namespace: registry.namespace,
  record_type: recordType.name,
})

type PersonErasedAct = Extract<JournalAct, { readonly kind: 'person_erased' }>

/** The act for the journal. A restore repeats it on the records that the restored database has of the person. */
function makeErasureAct(
  person: FoundPerson,
  pseudonyms: readonly Buffer[],
  circumstances: Pick<PersonErasedAct, 'reason' | 'holds'>,
): PersonErasedAct {
  return {
    kind: 'person_erased',
    pseudonyms: pseudonyms.map((pseudonym) => pseudonym.toString('hex')),
    ...circumstances,
    records: person.records.map(({ registry, recordType, id }) => ({
      registry: registry.namespace,
      record_type: recordType.name,
      record: id,
    })),
    forgotten: primariesOf(person).map(({ registry, ...primary }) => ({ registry: registry.namespace, ...primary })),
  }
}

/** Returns the primary identifiers of the person, each with its registry and record type. */
const primariesOf = ({ identifiers, given }: FoundPerson) =>
  given.flatMap(({ registry }) =>
    registry.kind.record_types.flatMap(({ name, primary_identifier }) =>
      identifiers
        .filter(({ type }) => type === primary_identifier)
        .map(({ value }) => ({ registry, record_type: name, primary_identifier: value })),
    ),
  )

interface EraseDeps {
  readonly signer: AuditSigner
  readonly now: () => Date
}

/** The most rows of the audit log from which persons are erased under one tombstone. */
const MOST_TOMBSTONE_ROWS = 5_000

/**
 * Deletes the pseudonyms of a person in the audit log, except those that a hold keeps, and the pseudonyms in ended holds.
 * @param transaction a transaction of the owner of the database that has locked the holds
 * @returns the number of pseudonyms that were deleted from the audit log
 */
export async function erasePseudonyms(
  transaction: Kysely<unknown>,
  { signer, now }: EraseDeps,
  pseudonyms: readonly Buffer[],
  reason: string,
): Promise<number> {
  for (let total = 0; ; ) {
    const places = await erasePersonsOfPseudonyms(transaction, pseudonyms, MOST_TOMBSTONE_ROWS)
    if (places.length === 0) {
      await erasePersonOfEndedHolds(transaction, pseudonyms)
      return total
    }
    const tombstone = { kind: 'erasure' as const, at: now().toISOString(), reason, erased: groupEntryPlacesByChain(places) }
    await insertTombstone(transaction, signTombstone(signer, tombstone))
    total += places.length
  }
}

function groupEntryPlacesByChain(places: readonly PersonPlace[]): Record<string, [number, number][]> {
  const sorted = places.toSorted((one, other) => one.sequence - other.sequence || one.position - other.position)
  const chains = Map.groupBy(sorted, ({ chain }) => chain)
  return Object.fromEntries(
    [...chains].map(([chain, rows]) => [chain, rows.map(({ sequence, position }) => [sequence, position])]),
  )
}

const ZERO_ROW_COUNTS = { outbox: 0, notifications: 0, underway: 0, tombstones: 0 }

async function eraseEventsAndTraces(db: Database, person: FoundPerson, dryRun: boolean): Promise<typeof ZERO_ROW_COUNTS> {
  let { notifications, underway, tombstones } = ZERO_ROW_COUNTS
  const registries = person.given.map(({ registry }) => registry)
  // The outbox is first, because publishing a row makes notifications.
  const rows = await findOutboxRowsAbout(db, person.identifiers, registries)
  const outbox = dryRun ? rows.length : await deleteOutboxRows(db, rows)
  for (const { registry, recordType, id } of person.records) {
    const about = {
      registry: registry.id,
      record_type: recordType.name,
      records: await listRecordAndRetiredIds(db, registry, recordType, id),
    }
    const withdrawn = await (dryRun ? countNotificationsToErase : eraseNotifications)(db.pool, about)
    notifications += withdrawn.notifications
    underway += withdrawn.underway
  }
  for (const { registry, ...primary } of primariesOf(person)) {
    const key = { registry: registry.id, ...primary }
    tombstones += await (dryRun ? countDeletionTraces : forgetDeletionTraces)(db.pool, key)
  }
  return { outbox, notifications, underway, tombstones }
}

/** The time from which today's key of stored bodies may be destroyed: `retention` seconds after the end of the day (UTC). */
function endOfBodyKey(now: Date, retention: number): Date {
  const day = Math.floor(now.getTime() / (SECONDS_PER_DAY * 1_000)) + 1
  return new Date((day * SECONDS_PER_DAY + retention) * 1_000)
}
