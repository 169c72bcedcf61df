/** The registry that is searched: synthetic records, filled once, and participants who may search. */
import { Readable } from 'node:stream'
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { showGrantTemplate } from '@rollcall/admin/grants/grants'
import type { MessagePolicy } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { importFile } from '@rollcall/import/import-file'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { addSecret } from '@rollcall/participants/store/client-secrets'
import { addParticipant, changeParticipant, findParticipant, setMessagePolicy } from '@rollcall/participants/store/participants'
import { countRecords } from '@rollcall/records/records/record-counts'
import { recordTable } from '@rollcall/records/records/record-tables'
import { addRegistry, findRegistry, listRegistries } from '@rollcall/records/registries/registries'
import { generateLines } from '@rollcall/synthetic'
import { acting } from '../../packages/admin/test/acting.ts'
import { KIND, NAMESPACE, REGISTRY_SENDER } from './question.ts'

/** The registry that is filled. */
export interface Hosted {
  readonly namespace: string
  readonly kind: string
  readonly sender_id: string
}

const CIVIL: Hosted = { namespace: NAMESPACE, kind: KIND, sender_id: REGISTRY_SENDER }

/** The registry with at least this many records; those that are missing are imported. */
export async function filledRegistry(db: Database, records: number, hosted = CIVIL): Promise<Registry> {
  const registry = (await findRegistry(db, hosted.namespace)) ?? (await addRegistry(db, hosted))
  const [recordType] = registry.kind.record_types
  const held = (await countRecords(db, registry))[recordType.name] ?? 0
  if (held < records) await fill(db, registry, records)
  const { table, identifierTable } = recordTable(registry, recordType)
  await db.pool.query(`vacuum analyze ${quoteName(table)}, ${quoteName(identifierTable)}`)
  await db.pool.query('checkpoint')
  return registry
}

async function fill(db: Database, registry: Registry, records: number): Promise<void> {
  console.log(`importing ${records} records`)
  const start = performance.now()
  const { written } = await importFile(db, registry, Readable.from(ndjson(registry.kind.name, records)), {
    format: 'ndjson',
    rejectsPath: null,
  })
  if (written !== records) throw new Error(`only ${written} of ${records} records were written`)
  console.log(`imported in ${Math.round((performance.now() - start) / 1_000)} s`)
}

const LINES_OF_CHUNK = 200

function* ndjson(kind: string, count: number): Generator<Buffer> {
  let lines: string[] = []
  for (const line of generateLines(kind, { count, seed: 1 })) {
    if (lines.push(line) < LINES_OF_CHUNK) continue
    yield Buffer.from(`${lines.join('\n')}\n`)
    lines = []
  }
  yield Buffer.from(lines.join('\n'))
}

/** Identifiers of which each names exactly one record, in random order: a turn through them repeats none. */
export async function shuffledIdentifiers(db: Database, registry: Registry): Promise<readonly string[]> {
  const [recordType] = registry.kind.record_types
  const { identifierTable } = recordTable(registry, recordType)
  const { rows } = await db.pool.query<{ value: string }>(
    `select value from ${quoteName(identifierTable)} where type = $1
     group by value having count(*) = 1 order by random()`,
    [recordType.primary_identifier],
  )
  return rows.map(({ value }) => value)
}

/**
 * Credentials of a participant, added where it is missing, for a token request with HTTP Basic. It is not held back,
 * and `policy` is agreed with it, whatever was in a directory that is kept.
 */
export async function credentialsOf(db: Database, sender_id: string, policy: Partial<MessagePolicy>): Promise<string> {
  const asker = (await findParticipant(db, sender_id)) ?? (await addParticipant(db, { sender_id, name: 'One who asks' }))
  await changeParticipant(db, sender_id, { rate_limit: Infinity, concurrency_limit: Infinity })
  await setMessagePolicy(db, sender_id, policy)
  for (const { namespace } of await listRegistries(db)) {
    const terms = await showGrantTemplate({ db }, { namespace, template: 'everything' })
    await setGrant(acting({ db }), { sender_id, namespace, terms })
  }
  const { secret, sha256 } = newSecret()
  await addSecret(db, asker, sha256)
  return Buffer.from(`${asker.client_id}:${secret}`).toString('base64')
}
