/**
 * Protected persons. A grant that does not name the category shows neither their records nor what other records have of them.
 */

import type { JournalAct } from '@rollcall/core/model/journal'
import { recordsWithIdentifier } from '@rollcall/core/model/person-identifiers'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import type { Identifier } from '@rollcall/core/model/records'
import { IDENTIFIER_ROWS_GROUP_NAME, type Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { dropNotificationsAboutPerson } from '@rollcall/delivery/store/events/withdrawing'
import { identifierValue, isContact, oneOf, resolveIdentifierType } from '@rollcall/protocol'
import {
  findPersonProtectedBy,
  findProtectedPersonIds,
  listProtected as listRows,
  type PersonToProtect,
  protectPerson as protectRow,
  type RecordToProtect,
  unprotectPerson as unprotectRow,
} from '@rollcall/records/records/protect-person'
import { recordsOf, storedRecordsOf } from '@rollcall/records/records/registry-records'
import { applyIndexes } from '@rollcall/records/registries/index-apply'
import { requireRegistry } from '@rollcall/records/registries/registries'
import type { ClientBase, PoolClient } from 'pg'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, markPersonal, Namespace, orNull, text, wholeNumber } from '../members.ts'
import { findRecordToProtect } from './record-to-protect.ts'
import { listRecordAndRetiredIds } from './with-merged.ts'

export { PROTECTION_CATEGORIES }

const Category = oneOf(PROTECTION_CATEGORIES, { description: 'Why the person is protected.' })
const PersonInput = {
  namespace: Namespace,
  identifier_type: text("One of the registry's identifier types."),
  identifier_value: markPersonal(text('The value of an identifier of the person.')),
} as const
const RewrittenOtherRecords = wholeNumber('Records of others, such as households, that were found by the person too.')

/** Protects a person; every server follows within a second. A record that the registry gets later is protected too. */
export const protectPerson = defineAct(
  {
    name: 'record protect',
    approval: 'never',
    input: closed({
      ...PersonInput,
      category: Category,
      reason: markPersonal(Type.String({ minLength: 1, maxLength: 500, description: 'For those who read the list later.' })),
    }),
    result: closed({
      namespace: Namespace,
      category: Category,
      records: wholeNumber('Records of the person: 0 where the registry has none yet.'),
      rewritten: RewrittenOtherRecords,
      withdrawn: wholeNumber('Notifications about the person that waited, and are not sent.'),
    }),
  },
  async ({ db }: HasDatabase, { namespace, category, reason, ...given }) => {
    const registry = await requireRegistry(db, namespace)
    const named = identifierOf(registry, given)
    if (hasUnfilledIdentifierRows(registry)) {
      throw new AdminRefusal(
        'namespace: identifiers of its records are being backfilled; nobody can be protected until that is done',
        { reason: 'conflict' },
      )
    }
    const find = async (client: PoolClient) => {
      const { identifier, bearer } = await findPerson(db, client, registry, named)
      if ((await findPersonProtectedBy(client, registry.id, identifier)) === null) return { identifier, bearer }
      throw new AdminRefusal('identifier: the person is protected already; lift that protection first', { reason: 'conflict' })
    }
    const commit = async (client: PoolClient) => {
      const done = await protectFoundPerson(db, client, registry, { ...(await find(client)), category, reason })
      return { namespace, category, ...done }
    }
    // A refused act must not be in the journal: a restore repeats the journal, and would give the person this category.
    await withTransaction(db.pool, find)
    return db.journal.write({ kind: 'person_protected', registry: namespace, category, reason, ...given }, () =>
      withTransaction(db.pool, commit),
    )
  },
)

/**
 * Repeats, in a restored database, an act of the journal that protected a person. The category of the act replaces any other
 * category of the person. If the identifier rows are not filled, they are backfilled first, so that the person is found.
 * @throws AdminRefusal, StoreRefusal
 */
export async function repeatJournalProtection(
  db: Database,
  { registry: namespace, category, reason, ...given }: Omit<PersonProtectedAct, 'kind'>,
): Promise<void> {
  if (hasUnfilledIdentifierRows(await requireRegistry(db, namespace))) await applyIndexes(db, namespace)
  const registry = await requireRegistry(db, namespace)
  const named = identifierOf(registry, given)
  await withTransaction(db.pool, async (client) => {
    const { identifier, bearer } = await findPerson(db, client, registry, named)
    const known = await findPersonProtectedBy(client, registry.id, identifier)
    if (known?.category === category) return
    if (known !== null) await unprotectRow(client, registry, known.id)
    await protectFoundPerson(db, client, registry, { identifier, bearer, category, reason })
  })
}

type PersonProtectedAct = Extract<JournalAct, { readonly kind: 'person_protected' }>

const hasUnfilledIdentifierRows = ({ unfilled }: Registry): boolean =>
  [...unfilled.values()].some((names) => names.has(IDENTIFIER_ROWS_GROUP_NAME))

/** Finds the person whom an identifier names. Changes of the registry's records wait until the transaction ends. */
async function findPerson(db: Database, client: ClientBase, registry: Registry, named: Identifier) {
  await lockRegistryFor(client, registry.id, 'exclusive change')
  const bearer = await findRecordToProtect(storedRecordsOf(db, registry).within(client), registry, named)
  return { identifier: bearer === null ? named : requirePrimary(bearer), bearer }
}

/** Protects a person who is not protected yet. */
async function protectFoundPerson(db: Database, client: ClientBase, registry: Registry, person: PersonToProtect) {
  const { bearer, category } = person
  const rewritten = await protectRow(client, registry, person)
  if (bearer === null) return { records: 0, rewritten, withdrawn: 0 }
  const { recordType, id } = bearer
  const records = await listRecordAndRetiredIds(db, registry, recordType, id, client)
  const about = { registry: registry.id, record_type: recordType.name, records }
  return { records: 1, rewritten, withdrawn: await dropNotificationsAboutPerson(client, about, category) }
}

/** Lifts the protection of a person. Events from before the lifting are not notified afterwards. */
export const unprotectPerson = defineAct(
  {
    name: 'record unprotect',
    approval: {
      when: 'always',
      role: 'own',
      confidential: ['identifier_value'],
      concerns: async (_: HasDatabase, { namespace, identifier_type }) => ({
        about: { namespace, identifier_type },
        stored: { protection: 'in force' },
        wanted: { protection: 'lifted' },
      }),
    },
    input: closed(PersonInput),
    result: closed({ namespace: Namespace, rewritten: RewrittenOtherRecords }),
  },
  async ({ db }: HasDatabase, { namespace, ...given }) => {
    const registry = await requireRegistry(db, namespace)
    const named = identifierOf(registry, given)
    return withTransaction(db.pool, async (client) => {
      await lockRegistryFor(client, registry.id, 'exclusive change')
      const [person, another] = await findProtectedPersonIds(client, registry.id, named)
      if (person === undefined) {
        throw new AdminRefusal('identifier: no protected person has it', { reason: 'not_found' })
      }
      if (another !== undefined) {
        throw new AdminRefusal('identifier: several protected persons have it; name one by another identifier')
      }
      return { namespace, rewritten: await unprotectRow(client, registry, person) }
    })
  },
)

/** Lists the protected persons of a registry. */
export const listProtectedPersons = defineAct(
  {
    name: 'record protected list',
    approval: 'never',
    input: closed({
      namespace: Namespace,
      identifiers: Type.Optional(flag('Show who they are and why; otherwise only how many of which category.')),
    }),
    result: Type.Array(
      closed({
        category: Category,
        protected_at: text('Since when.'),
        identifier_type: text('The type of the identifier by which the person is known here.'),
        identifier_value: markPersonal(orNull(text('Its value; null: it was not asked for.'))),
        reason: markPersonal(orNull(text('As it was given; null: it was not asked for.'))),
        records: wholeNumber('Records of the person.'),
      }),
    ),
  },
  async ({ db }: HasDatabase, { namespace, identifiers = false }) => {
    const registry = await requireRegistry(db, namespace)
    const rows = await listRows(db, registry)
    const counts = registry.own_records ? null : await countRecordsOf(db, registry, rows)
    return rows.map(({ type, value, category, reason, protected_at, records }, at) => ({
      category,
      protected_at: protected_at.toISOString(),
      identifier_type: type,
      identifier_value: identifiers ? value : null,
      reason: identifiers ? reason : null,
      records: counts?.[at] ?? records,
    }))
  },
)

/**
 * Counts, for each identifier, the records that have it in a source that is read live: at most two for each record type. The
 * identifiers are looked up one after another, because only a limited number of look-ups may wait for the source.
 */
async function countRecordsOf(db: Database, registry: Registry, named: readonly Identifier[]): Promise<readonly number[]> {
  const reader = recordsOf(db, registry).within(db.pool)
  const places = registry.kind.record_types.map((recordType) => ({ registry, recordType, reader }))
  const counts: number[] = []
  for (const one of named) {
    const found = await Promise.all(places.map((place) => recordsWithIdentifier(place, registry.kind, one)))
    counts.push(found.flat().length)
  }
  return counts
}

interface IdentifierInput {
  readonly identifier_type: string
  readonly identifier_value: string
}

function identifierOf({ kind }: Registry, { identifier_type, identifier_value }: IdentifierInput): Identifier {
  const type = resolveIdentifierType(kind, identifier_type)
  const types = kind.identifier_types.filter((one) => !isContact(one))
  if (type === undefined || isContact(type)) {
    throw new AdminRefusal(`identifier_type: must be one of ${types.map(({ name }) => name).join(', ')}`)
  }
  const value = identifierValue(type, identifier_value)
  if (value === null) throw new AdminRefusal(`identifier_value: must be a valid ${type.name}`)
  return { type: type.name, value }
}

/** The primary identifier of the record. */
function requirePrimary({ recordType, identifiers }: RecordToProtect): Identifier {
  const primary = identifiers.find(({ type }) => type === recordType.primary_identifier)
  if (primary === undefined) throw new Error('a record has no primary identifier')
  return primary
}
