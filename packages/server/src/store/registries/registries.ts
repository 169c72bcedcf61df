/** The registries that are hosted here, each mounted at its namespace. */

import {
  type Attribute,
  type AttributeAddition,
  canonicalJson,
  extendKind,
  type IdentifierType,
  KINDS,
  type Kind,
  kindNamed,
  withIdentifiers,
} from '@rollcall/protocol'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { Environment } from '../../model/environment.ts'
import { IDENTIFIERS, type Registry } from '../../model/registry.ts'
import { nearestHint } from '../../shared/nearest.ts'
import type { Database } from '../db/database.ts'
import { StoreRefusal } from '../db/refusal.ts'
import { assignments, rowOf } from '../db/statement-parts.ts'
import { checkSenderId, isStorable } from '../db/text.ts'
import { columnGroups } from '../records/columns.ts'
import { createRecordTables } from '../records/record-tables.ts'
import { declarePrimaries } from './primary-identifiers.ts'
import { checkNamespace, checkRegTypeAliases, checkTimeZone, checkWebOrigins } from './registry-checks.ts'

/**
 * Adds a registry and makes its record tables.
 * @param registry.kind a kind's name
 * @throws StoreRefusal naming what is wrong: the namespace, the kind, the time zone, a sender_id or an alias,
 *   its form or that it is taken
 */
export async function addRegistry(
  db: Database,
  registry: {
    readonly namespace: string
    readonly kind: string
    readonly sender_id: string
    readonly aliases?: readonly string[]
    readonly demo?: boolean
    /** UTC unless given. */
    readonly time_zone?: string
    /** 18 unless given. */
    readonly majority_age?: number
    /** None unless given. */
    readonly web_origins?: readonly string[]
    /** None unless given. */
    readonly reg_type_aliases?: readonly string[]
    /** False unless given. */
    readonly qualified_kids?: boolean
    /** By record type; those of the kind unless given. */
    readonly primary_identifiers?: Readonly<Record<string, string>>
    /** `live` unless given. */
    readonly environment?: Environment
  },
): Promise<Registry> {
  const { namespace, sender_id, demo = false, time_zone = 'UTC', majority_age = 18 } = registry
  const { primary_identifiers = {}, environment = 'live', web_origins = [] } = registry
  const { reg_type_aliases = [], qualified_kids = false } = registry
  checkNamespace(namespace)
  const kind = kindNamed(registry.kind)
  if (!kind) {
    const names = KINDS.map(({ name }) => name)
    throw new StoreRefusal(
      `there is no kind ${JSON.stringify(registry.kind)}; the kinds are ${names.join(', ')}${nearestHint(registry.kind, names)}`,
    )
  }
  checkTimeZone(time_zone)
  checkWebOrigins(web_origins)
  checkRegTypeAliases(kind, reg_type_aliases)
  checkSenderId(sender_id)
  if (sender_id.includes(' '))
    throw new StoreRefusal(
      'sender_id has a space; choose a name such as civil.example.org: it stands in every message, and it cannot be changed later',
    )
  const aliases = checkedAliases(registry.aliases ?? [], sender_id)

  return db.kysely.transaction().execute(async (transaction) => {
    const registries = await lockedNames(transaction)
    if (registries.some((row) => row.namespace === namespace))
      throw new StoreRefusal(`there is a registry at ${namespace} already; choose another namespace`)
    checkNotTaken(registries, [sender_id, ...aliases])
    const values = {
      ...{ namespace, kind: kind.name, sender_id, aliases },
      ...{ demo, time_zone, majority_age, environment, web_origins, reg_type_aliases, qualified_kids },
    }
    const { rows } = await sql<{ id: number }>`insert into registry ${rowOf(values)} returning id`.execute(
      transaction,
    )
    const [row] = rows
    if (row === undefined) throw new Error('unreachable: a registry was inserted')
    await declarePrimaries(transaction, row.id, kind, primary_identifiers)
    const added = await registryAt({ kysely: transaction }, namespace)
    await createRecordTables(transaction, added)
    return added
  })
}

/** What of a registry can be changed. */
export interface RegistryChanges {
  /** Other values of `receiver_id` that mean it. */
  readonly aliases?: readonly string[]
  /** By whose days it counts ages. */
  readonly time_zone?: string
  /** Years at which a person comes of age. */
  readonly majority_age?: number
  /** Origins of web pages that may ask it from a browser. */
  readonly web_origins?: readonly string[]
  /** Values of `reg_type` that mean it, beside those of its kind. */
  readonly reg_type_aliases?: readonly string[]
  readonly qualified_kids?: boolean
}

/**
 * @throws StoreRefusal there is no such time zone, an origin is none, a `reg_type` means the kind already, an alias is none or
 *   is a name of another registry, or no registry is at the namespace
 */
export async function setRegistry(
  db: Database,
  namespace: string,
  { aliases, time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids }: RegistryChanges,
): Promise<Registry> {
  if (time_zone !== undefined) checkTimeZone(time_zone)
  if (web_origins !== undefined) checkWebOrigins(web_origins)
  const { kind, sender_id } = await registryAt(db, namespace)
  if (reg_type_aliases !== undefined) checkRegTypeAliases(kind, reg_type_aliases)
  const names = aliases && checkedAliases(aliases, sender_id)
  const given = { time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids }
  const changes = { ...given, aliases: names }
  if (Object.values(changes).some((value) => value !== undefined)) {
    await db.kysely.transaction().execute(async (transaction) => {
      if (names !== undefined) {
        const others = (await lockedNames(transaction)).filter((row) => row.namespace !== namespace)
        checkNotTaken(others, names)
      }
      await sql`update registry set ${assignments(changes)} where namespace = ${namespace}`.execute(
        transaction,
      )
    })
  }
  return registryAt(db, namespace)
}

/** Each once, without the registry's own name. @throws StoreRefusal */
function checkedAliases(given: readonly string[], sender_id: string): readonly string[] {
  const aliases = [...new Set(given)].filter((alias) => alias !== sender_id)
  for (const alias of aliases) checkSenderId(alias, `alias ${JSON.stringify(alias)}`)
  return aliases
}

type RegistryNames = Pick<Registry, 'namespace' | 'sender_id' | 'aliases'>

/** No constraint spans sender_id and the elements of aliases: until the end of the transaction, no other one gives names. */
async function lockedNames(transaction: Transaction<unknown>): Promise<readonly RegistryNames[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall registries', 0))`.execute(transaction)
  const { rows } = await sql<RegistryNames>`select namespace, sender_id, aliases from registry`.execute(
    transaction,
  )
  return rows
}

/** A message for one registry is no message for another: no name of one is a name of another. @throws StoreRefusal */
function checkNotTaken(registries: readonly RegistryNames[], names: readonly string[]): void {
  for (const row of registries) {
    const taken = names.find((name) => name === row.sender_id || row.aliases.includes(name))
    if (taken === undefined) continue
    throw new StoreRefusal(
      `${JSON.stringify(taken)} is a name of the registry at ${row.namespace} already; choose another`,
    )
  }
}

/** A registry that this version cannot read, and why. */
export interface UnreadableRegistry {
  readonly id: number
  readonly namespace: string
  readonly error: unknown
}

/** Every registry, by namespace: those that this version can read, and the others, which stop none of them. */
export async function readRegistries(db: { readonly kysely: Kysely<unknown> }): Promise<{
  readonly registries: readonly Registry[]
  readonly unreadable: readonly UnreadableRegistry[]
}> {
  const registries: Registry[] = []
  const unreadable: UnreadableRegistry[] = []
  for (const row of await selectRegistries(db.kysely, null)) {
    try {
      registries.push(toRegistry(row))
    } catch (error) {
      unreadable.push({ id: row.id, namespace: row.namespace, error })
    }
  }
  return { registries, unreadable }
}

/** Every registry that this version can read, by namespace. */
export async function listRegistries(db: Database): Promise<readonly Registry[]> {
  return (await readRegistries(db)).registries
}

/**
 * The registry mounted at a namespace; null when there is none.
 * @throws StoreRefusal it is of a kind that this version does not know
 */
export async function findRegistry(
  db: { readonly kysely: Kysely<unknown> },
  namespace: string,
): Promise<Registry | null> {
  if (!isStorable(namespace)) return null
  const [row] = await selectRegistries(db.kysely, namespace)
  return row === undefined ? null : toRegistry(row)
}

/**
 * As `findRegistry`, for an operator who named it.
 * @throws StoreRefusal there is none; it names the nearest
 */
export async function registryAt(
  db: { readonly kysely: Kysely<unknown> },
  namespace: string,
): Promise<Registry> {
  const found = await findRegistry(db, namespace)
  if (found !== null) return found
  throw new StoreRefusal(await noRegistryAt(db, namespace))
}

/** The message for an operator who named a registry that is not there. */
export async function noRegistryAt(
  { kysely }: { readonly kysely: Kysely<unknown> },
  namespace: string,
): Promise<string> {
  const { rows } = await sql<{
    namespace: string
  }>`select namespace from registry order by namespace`.execute(kysely)
  const names = rows.map((row) => row.namespace)
  return `there is no registry at ${namespace}${nearestHint(namespace, names)}; rollcall registry list shows those there are`
}

/** One statement: every node asks it twice a second. @param namespace null: all, in their order */
async function selectRegistries(
  kysely: Kysely<unknown>,
  namespace: string | null,
): Promise<readonly FoundRegistry[]> {
  const { rows } = await sql<FoundRegistry>`select registry.*,
      (select coalesce(json_agg(json_build_object('record_type', record_type, 'name', name, 'definition', definition)
        order by record_type, name), '[]') from registry_attribute where registry = registry.id) as additions,
      (select coalesce(json_agg(json_build_object('name', name, 'definition', definition) order by name), '[]')
        from registry_identifier_type where registry = registry.id) as identifier_types,
      (select coalesce(json_agg(json_build_object('record_type', record_type, 'name', name)), '[]')
        from column_fill where registry = registry.id) as fills
    from registry where ${namespace}::text is null or namespace = ${namespace} order by namespace`.execute(
    kysely,
  )
  return rows
}

interface FoundRegistry extends Omit<Registry, 'kind' | 'unfilled'> {
  /** A `Kind`'s name. */
  readonly kind: string
  /** By record type, the identifier type by which its records are known instead of the kind's. */
  readonly primary_identifiers: Readonly<Record<string, string>>
  readonly additions: readonly StoredAttribute[]
  readonly identifier_types: readonly StoredIdentifierType[]
  readonly fills: readonly { readonly record_type: string; readonly name: string }[]
}

function toRegistry(row: FoundRegistry): Registry {
  const { id, namespace, sender_id, aliases, demo, time_zone, majority_age, environment, web_origins } = row
  const kind = kindNamed(row.kind)
  if (!kind) {
    throw new StoreRefusal(
      `the registry at ${namespace} is of kind ${row.kind}, which this version does not know`,
    )
  }
  const { reg_type_aliases, qualified_kids } = row
  const extended = kindWith(kind, row)
  return {
    id,
    namespace,
    kind: extended,
    sender_id,
    aliases,
    demo,
    time_zone,
    majority_age,
    environment,
    web_origins,
    reg_type_aliases,
    qualified_kids,
    unfilled: unfilledOf(kind, extended, row),
  }
}

/**
 * Of the names to be backfilled those that the kind has; others are another version's. While identifiers are read again, those
 * of types that the operator added were not read as they are now.
 */
function unfilledOf(
  literal: Kind,
  kind: Kind,
  { fills, identifier_types }: FoundRegistry,
): Registry['unfilled'] {
  const added = identifier_types
    .filter(
      ({ name, definition }) =>
        definition.aliases !== undefined || literal.identifier_types.every((type) => type.name !== name),
    )
    .map(({ name }) => name)
  const unfilled = new Map<string, ReadonlySet<string>>()
  for (const recordType of kind.record_types) {
    const known = new Set([...columnGroups(recordType).map(({ name }) => name), IDENTIFIERS])
    const names = fills.filter(({ record_type, name }) => record_type === recordType.name && known.has(name))
    const all = names.flatMap(({ name }) => (name === IDENTIFIERS ? [name, ...added] : [name]))
    if (all.length > 0) unfilled.set(recordType.name, new Set(all))
  }
  return unfilled
}

/**
 * As it is stored. For an attribute that the kind itself has, `indexed` alone counts and the rest comes from the kind:
 * a later version of the kind may describe it better.
 */
interface StoredAttribute {
  readonly record_type: string
  readonly name: string
  readonly definition: Partial<Omit<Attribute, 'name'>>
}

/** As it is stored; of a type that the kind has, what is added to it. */
interface StoredIdentifierType {
  readonly name: string
  readonly definition: Omit<IdentifierType, 'name'>
}

/**
 * By content: much hangs on a kind's record types (tables, statements, reference pages), so what is the same must
 * be the same object, however often it is read. As many entries as there were different additions.
 */
const extended = new Map<string, Kind>()

/** The kind with the additions: the kind itself where there are none, else one object for the same additions. */
function kindWith(
  kind: Kind,
  { additions, identifier_types, primary_identifiers, reg_type_aliases }: FoundRegistry,
): Kind {
  const attributes = additions.flatMap((attribute) => asAddition(kind, attribute) ?? [])
  const types = identifier_types.map(({ name, definition }) => ({ ...definition, name }))
  const identifiers = { identifier_types: types, primary_identifiers }
  const more = [attributes, types, Object.keys(primary_identifiers), reg_type_aliases]
  if (more.every(({ length }) => length === 0)) return kind
  const key = `${kind.name} ${canonicalJson({ attributes, ...identifiers, reg_type_aliases })}`
  const found = extended.get(key) ?? {
    ...extendKind(withIdentifiers(kind, identifiers), attributes),
    reg_type: { ...kind.reg_type, aliases: [...kind.reg_type.aliases, ...reg_type_aliases] },
  }
  extended.set(key, found)
  return found
}

/** Null: this version's kind does not know it. A search that asks about it is then refused, as for any unknown attribute. */
function asAddition(
  kind: Kind,
  { record_type, name, definition }: StoredAttribute,
): AttributeAddition | null {
  const recordType = kind.record_types.find((row) => row.name === record_type)
  if (recordType === undefined) return null
  const own = recordType.attributes.find((attribute) => attribute.name === name)
  if (own !== undefined) {
    return definition.indexed ? { record_type, attribute: { ...own, indexed: true } } : null
  }
  const { type, paths } = definition
  return type && paths ? { record_type, attribute: { ...definition, name, type, paths } } : null
}
