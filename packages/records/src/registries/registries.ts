/** The hosted registries, each at the address of its namespace. */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { SOURCES_NOTIFY_PAYLOAD, WORK_CHANNEL } from '@rollcall/database/queue'
import { StoreRefusal } from '@rollcall/database/refusal'
import { assignmentsSql, valuesSql } from '@rollcall/database/statement-parts'
import { checkSenderId, isTextStorable } from '@rollcall/database/text'
import { KINDS, type Kind, kindNamed } from '@rollcall/protocol'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { ClientBase } from 'pg'
import { createRecordTables } from '../records/record-tables.ts'
import { storePrimaryIdentifierTypes } from './primary-identifiers.ts'
import { checkNamespace, checkRegTypeAliases, checkTimeZone, checkWebOrigins } from './registry-checks.ts'
import { REGISTRY_DEFAULTS, type RegistrySettings, selectRegistries, toRegistry } from './registry-rows.ts'

/**
 * Adds a registry, and makes its record tables unless its records are elsewhere.
 * @param registry.kind the name of a kind
 * @throws StoreRefusal a member is not valid, there is no such kind, or the namespace, sender_id or an alias is in use
 */
export async function addRegistry(
  db: Database,
  registry: {
    readonly namespace: string
    readonly kind: string
    readonly sender_id: string
    readonly aliases?: readonly string[]
  } & Partial<RegistrySettings>,
): Promise<Registry> {
  const given = { ...REGISTRY_DEFAULTS, ...registry }
  const { namespace, sender_id, demo, environment, primary_identifiers } = given
  const { time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids, source } = given
  const own_records = source === null ? given.own_records : isMirrorSource(source)
  checkNamespace(namespace)
  const kind = requireKind(registry.kind)
  checkTimeZone(time_zone)
  checkWebOrigins(web_origins)
  checkRegTypeAliases(kind, reg_type_aliases)
  checkRegistrySenderId(sender_id)
  const aliases = checkedReceiverAliases(registry.aliases ?? [], sender_id)

  return db.kysely.transaction().execute(async (transaction) => {
    const registries = await lockRegistryNames(transaction)
    if (registries.some((row) => row.namespace === namespace))
      throw new StoreRefusal(`there is a registry at ${namespace} already; choose another namespace`)
    checkNamesNotTaken(registries, [sender_id, ...aliases])
    const values = {
      namespace,
      kind: kind.name,
      sender_id,
      aliases,
      demo,
      time_zone,
      majority_age,
      environment,
      web_origins,
      reg_type_aliases,
      qualified_kids,
      own_records,
      awaits_records: source !== null && own_records,
      source: source === null ? null : JSON.stringify(source),
    }
    const { rows } = await sql<{ id: number }>`insert into registry ${valuesSql(values)} returning id`.execute(transaction)
    const [row] = rows
    if (row === undefined) throw new Error('unreachable: a registry was inserted')
    await storePrimaryIdentifierTypes(transaction, row.id, kind, primary_identifiers)
    const added = await requireRegistry({ kysely: transaction }, namespace)
    await createRecordTables(transaction, added)
    if (source !== null) await sql`select pg_notify(${WORK_CHANNEL}, ${SOURCES_NOTIFY_PAYLOAD})`.execute(transaction)
    return added
  })
}

/** Finds a kind by its name. @throws StoreRefusal that names the kinds */
function requireKind(name: string): Kind {
  const kind = kindNamed(name)
  if (kind !== undefined) return kind
  const names = KINDS.map((known) => known.name)
  throw new StoreRefusal(
    `there is no kind ${JSON.stringify(name)}; the kinds are ${names.join(', ')}${nearestNameHint(name, names)}`,
  )
}

/** Checks the sender_id of a new registry. Only the sender_id of a participant may have spaces. @throws StoreRefusal */
function checkRegistrySenderId(sender_id: string): void {
  checkSenderId(sender_id)
  if (sender_id.includes(' '))
    throw new StoreRefusal(
      'sender_id has a space; choose a name such as civil.example.org: it stands in every message, and it cannot be changed later',
    )
}

/** True when the records of this source are copied into our own tables: its source file has `way: mirror`. */
export const isMirrorSource = (source: object): boolean => 'way' in source && source.way === 'mirror'

/** The members of a registry that an operator can change. */
export interface RegistryChanges {
  /** Other values of `receiver_id` that mean this registry. */
  readonly aliases?: readonly string[]
  /** The time zone (an IANA name) in which days begin: for ages, the dates of events and the times of notifications. */
  readonly time_zone?: string
  /** The age in years from which a person is an adult. */
  readonly majority_age?: number
  /** The origins of web pages that may call this registry from a browser. */
  readonly web_origins?: readonly string[]
  /** Values of `reg_type` that mean this registry, besides those of its kind. */
  readonly reg_type_aliases?: readonly string[]
  /** True when the key set has each signature key twice: with its kid, and with its kidId (`sender_id|kid|algorithm`) as kid. */
  readonly qualified_kids?: boolean
}

/**
 * Changes a registry.
 * @throws StoreRefusal the time zone does not exist, an origin or an alias is not valid, the kind has one of
 * `reg_type_aliases` already, an alias is the name of another registry, or no registry is at the namespace
 */
export async function updateRegistry(
  db: Database,
  namespace: string,
  { aliases, time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids }: RegistryChanges,
): Promise<Registry> {
  if (time_zone !== undefined) checkTimeZone(time_zone)
  if (web_origins !== undefined) checkWebOrigins(web_origins)
  const { kind, sender_id } = await requireRegistry(db, namespace)
  if (reg_type_aliases !== undefined) checkRegTypeAliases(kind, reg_type_aliases)
  const names = aliases && checkedReceiverAliases(aliases, sender_id)
  const given = { time_zone, majority_age, web_origins, reg_type_aliases, qualified_kids }
  const changes = { ...given, aliases: names }
  if (Object.values(changes).some((value) => value !== undefined)) {
    await db.kysely.transaction().execute(async (transaction) => {
      if (names !== undefined) {
        const others = (await lockRegistryNames(transaction)).filter((row) => row.namespace !== namespace)
        checkNamesNotTaken(others, names)
      }
      await sql`update registry set ${assignmentsSql(changes)} where namespace = ${namespace}`.execute(transaction)
    })
  }
  return requireRegistry(db, namespace)
}

/** The members of a `Registry` that say where its records are. */
export type RecordLocationMembers = Required<Pick<Registry, 'own_records' | 'awaits_records'>> & { readonly source: object }

/**
 * Replaces the source of a registry.
 * @returns false when, since the registry was read, another process has changed its source, or our copy of the source became
 * complete: then nothing is stored
 */
export async function storeSource(
  client: Pick<ClientBase, 'query'>,
  { id, source: before, awaits_records: awaited = false }: Pick<Registry, 'id' | 'source' | 'awaits_records'>,
  { source, own_records, awaits_records }: RecordLocationMembers,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `update registry set source = $3, own_records = $4, awaits_records = $5
     where id = $1 and source::jsonb = $2::jsonb and awaits_records = $6`,
    [id, JSON.stringify(before), JSON.stringify(source), own_records, awaits_records, awaited],
  )
  await client.query('select pg_notify($1, $2)', [WORK_CHANNEL, SOURCES_NOTIFY_PAYLOAD])
  return rowCount === 1
}

/**
 * True when the records of a registry are still where this node knows them to be: in our tables, or in a source. Locks the row of
 * the registry until the transaction ends, so that a change of the registry's source waits.
 */
export async function isRecordsPlaceUnchanged(
  client: Pick<ClientBase, 'query'>,
  { id, own_records }: Pick<Registry, 'id' | 'own_records'>,
): Promise<boolean> {
  const { rows } = await client.query('select 1 from registry where id = $1 and own_records = $2 for share', [id, own_records])
  return rows.length > 0
}

/** Lets a registry answer requests, after the copy of its records is complete. */
export async function letRegistryAnswer(client: Pick<ClientBase, 'query'>, id: number): Promise<void> {
  await client.query('update registry set awaits_records = false where id = $1 and awaits_records', [id])
}

/** The aliases, each once, without the registry's own sender_id. @throws StoreRefusal an alias has not the form of a sender_id */
function checkedReceiverAliases(given: readonly string[], sender_id: string): readonly string[] {
  const aliases = [...new Set(given)].filter((alias) => alias !== sender_id)
  for (const alias of aliases) checkSenderId(alias, `alias ${JSON.stringify(alias)}`)
  return aliases
}

type RegistryNames = Pick<Registry, 'namespace' | 'sender_id' | 'aliases'>

/**
 * Locks the names of all registries until the transaction ends, and reads them: no constraint of the database spans
 * sender_ids and aliases.
 */
async function lockRegistryNames(transaction: Transaction<unknown>): Promise<readonly RegistryNames[]> {
  await sql`select pg_advisory_xact_lock(hashtextextended('rollcall registries', 0))`.execute(transaction)
  const { rows } = await sql<RegistryNames>`select namespace, sender_id, aliases from registry`.execute(transaction)
  return rows
}

/** Checks that no other registry has one of these names as its sender_id or alias. @throws StoreRefusal */
function checkNamesNotTaken(registries: readonly RegistryNames[], names: readonly string[]): void {
  for (const row of registries) {
    const taken = names.find((name) => name === row.sender_id || row.aliases.includes(name))
    if (taken === undefined) continue
    throw new StoreRefusal(`${JSON.stringify(taken)} is a name of the registry at ${row.namespace} already; choose another`)
  }
}

/** A stored registry that this version of the program cannot read, with the error. */
export interface UnreadableRegistry {
  readonly id: number
  readonly namespace: string
  readonly error: unknown
}

/** All registries, ordered by namespace. Those that this version cannot read are returned separately. */
export async function readRegistries(db: {
  readonly kysely: Kysely<unknown>
}): Promise<{ readonly registries: readonly Registry[]; readonly unreadable: readonly UnreadableRegistry[] }> {
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

/** All registries that this version can read, ordered by namespace. */
export async function listRegistries(db: Database): Promise<readonly Registry[]> {
  return (await readRegistries(db)).registries
}

/** The registry at a namespace; null when there is none. @throws StoreRefusal this version does not know its kind */
export async function findRegistry(db: { readonly kysely: Kysely<unknown> }, namespace: string): Promise<Registry | null> {
  if (!isTextStorable(namespace)) return null
  const [row] = await selectRegistries(db.kysely, namespace)
  return row === undefined ? null : toRegistry(row)
}

/**
 * The registry at a namespace that an operator gave.
 * @throws StoreRefusal there is none, and the message names a similar namespace if there is one; or this version does
 * not know the kind of the registry
 */
export async function requireRegistry(db: { readonly kysely: Kysely<unknown> }, namespace: string): Promise<Registry> {
  const found = await findRegistry(db, namespace)
  if (found !== null) return found
  throw new StoreRefusal(await unknownRegistryMessage(db, namespace))
}

/** The message for an operator who named a registry that does not exist. */
export async function unknownRegistryMessage(
  { kysely }: { readonly kysely: Kysely<unknown> },
  namespace: string,
): Promise<string> {
  const { rows } = await sql<{ namespace: string }>`select namespace from registry order by namespace`.execute(kysely)
  const names = rows.map((row) => row.namespace)
  return `there is no registry at ${namespace}${nearestNameHint(namespace, names)}; rollcall registry list shows those there are`
}
