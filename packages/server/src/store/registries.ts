/** The registries that are hosted here, each mounted at its namespace. */
import { KINDS, type Kind, kindNamed } from '@rollcall/protocol'
import { type Selectable, sql, type Transaction } from 'kysely'
import type { Database } from './database.ts'
import { createRecordTables } from './record-tables.ts'
import { StoreRefusal } from './refusal.ts'
import type { RegistryRow, Tables } from './tables.ts'
import { checkSenderId, isStorable } from './text.ts'

/** One hosted instance of a kind. */
export interface Registry {
  readonly id: number
  readonly namespace: string
  readonly kind: Kind
  /** What it calls itself in a header, and what others put into `receiver_id`. */
  readonly sender_id: string
  /** Other values of `receiver_id` that mean it. */
  readonly aliases: readonly string[]
  /** Made by `rollcall demo`. */
  readonly demo: boolean
}

/** One segment of a path. */
const NAMESPACE = /^[a-z][a-z0-9-]{0,62}$/

/** First segments of paths that are not a registry's; those with a dot are excluded by the form already. */
const RESERVED: ReadonlySet<string> = new Set([
  'admin',
  'assets',
  'console',
  'docs',
  'health',
  'metrics',
  'oauth2',
  'ready',
  'static',
])

/**
 * Adds a registry and makes its record tables.
 * @param registry.kind a kind's name
 * @throws StoreRefusal naming what is wrong: the namespace, the kind, a sender_id or an alias, its form or that
 *   it is taken
 */
export async function addRegistry(
  db: Database,
  registry: {
    readonly namespace: string
    readonly kind: string
    readonly sender_id: string
    readonly aliases?: readonly string[]
    readonly demo?: boolean
  },
): Promise<Registry> {
  const { namespace, sender_id, demo = false } = registry
  checkNamespace(namespace)
  const kind = kindNamed(registry.kind)
  if (!kind) {
    const known = KINDS.map(({ name }) => name).join(', ')
    throw new StoreRefusal(`there is no kind ${JSON.stringify(registry.kind)}; the kinds are ${known}`)
  }
  checkSenderId(sender_id)
  const aliases = [...new Set(registry.aliases)].filter((alias) => alias !== sender_id)
  for (const alias of aliases) checkSenderId(alias, `alias ${JSON.stringify(alias)}`)

  return db.kysely.transaction().execute(async (transaction) => {
    // No constraint spans sender_id and the elements of aliases: adding is one at a time instead.
    await sql`select pg_advisory_xact_lock(hashtextextended('rollcall registries', 0))`.execute(transaction)
    await checkNotTaken(transaction, namespace, [sender_id, ...aliases])
    const row = await transaction
      .insertInto('registry')
      .values({ namespace, kind: kind.name, sender_id, aliases, demo })
      .returningAll()
      .executeTakeFirstOrThrow()
    const added = toRegistry(row)
    await createRecordTables(transaction, added)
    return added
  })
}

function checkNamespace(namespace: string): void {
  if (!NAMESPACE.test(namespace)) {
    throw new StoreRefusal(
      'a namespace is a lower-case letter, then at most 62 lower-case letters, digits or hyphens',
    )
  }
  if (RESERVED.has(namespace)) throw new StoreRefusal(`the namespace ${namespace} is reserved`)
}

/** A message for one registry is no message for another: no name of one is a name of another. */
async function checkNotTaken(
  transaction: Transaction<Tables>,
  namespace: string,
  names: readonly string[],
): Promise<void> {
  const rows = await transaction
    .selectFrom('registry')
    .select(['namespace', 'sender_id', 'aliases'])
    .execute()
  for (const row of rows) {
    if (row.namespace === namespace) throw new StoreRefusal(`a registry is mounted at ${namespace} already`)
    const taken = names.find((name) => name === row.sender_id || row.aliases.includes(name))
    if (taken !== undefined) {
      throw new StoreRefusal(`${JSON.stringify(taken)} already names the registry at ${row.namespace}`)
    }
  }
}

/**
 * Every registry, by namespace.
 * @throws StoreRefusal one is of a kind that this version does not know
 */
export async function listRegistries(db: Database): Promise<readonly Registry[]> {
  const rows = await db.kysely.selectFrom('registry').selectAll().orderBy('namespace').execute()
  return rows.map(toRegistry)
}

/** The registry mounted at a namespace; null when there is none. Throws as `listRegistries` does. */
export async function findRegistry(db: Database, namespace: string): Promise<Registry | null> {
  if (!isStorable(namespace)) return null
  const row = await db.kysely
    .selectFrom('registry')
    .selectAll()
    .where('namespace', '=', namespace)
    .executeTakeFirst()
  return row ? toRegistry(row) : null
}

function toRegistry({
  id,
  namespace,
  kind: kindName,
  sender_id,
  aliases,
  demo,
}: Selectable<RegistryRow>): Registry {
  const kind = kindNamed(kindName)
  if (!kind) {
    throw new StoreRefusal(
      `the registry at ${namespace} is of kind ${kindName}, which this version does not know`,
    )
  }
  return { id, namespace, kind, sender_id, aliases, demo }
}
