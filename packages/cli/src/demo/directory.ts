/** The registries, people and participant of the demo, and the line between a demo and a production. */

import { Readable } from 'node:stream'
import {
  addParticipant,
  addRegistry,
  type Database,
  directoryContent,
  ensureRecordTables,
  findCallbackSettings,
  findParticipant,
  findRegistry,
  hasRecords,
  importFile,
  type Participant,
  type Registry,
  registryAt,
  setCallbackSettings,
  setSubscriptionSettings,
} from '@rollcall/server'
import { applyIndexes } from '@rollcall/server/admin/indexes'
import { generateLines, KIND_GENERATORS } from '@rollcall/synthetic'
import { CommandError } from '../failure.ts'

/** Its tools run on this machine, and may sign or leave it; they are not slowed down, and may subscribe to everything. */
const PARTICIPANT = {
  sender_id: 'demo.spmis.example',
  name: 'Demo social protection MIS',
  max_page_size: 1_000,
  rate_limit: Infinity,
  concurrency_limit: Infinity,
  unfiltered_subscriptions: true,
  max_subscriptions: Infinity,
  signature_policy: 'if-present',
  allow_unsigned: true,
  outgoing: ['127.0.0.1', 'localhost', '::1'].map((host) => ({
    host,
    ports: 'any' as const,
    plainHttp: true,
    loopback: true,
  })),
} as const

/** It may subscribe to everything, as often as it likes. */
const SUBSCRIPTIONS = { unfiltered_subscriptions: true, max_subscriptions: Infinity } as const

/** Its tools listen wherever they find a port. */
const CALLBACKS_ALLOWED = ['127.0.0.1', 'localhost', '[::1]'].map((host) => `http://${host}:*`)

/** Entries named in a refusal. */
const NAMED = 3

/** @throws CommandError a production must not run on the database of a demo */
export async function refuseDemoData(db: Database): Promise<void> {
  const { demo } = await directoryContent(db)
  if (demo.length === 0) return
  throw new CommandError(
    `this database is a demo's (it has ${named(demo)}), whose secret lies in a file; ` +
      'run rollcall demo, or set ROLLCALL_DATA or DATABASE_URL to another database',
  )
}

/** @throws CommandError a demo must not run beside real registries and participants */
export async function refuseRealData(db: Database): Promise<void> {
  const { real } = await directoryContent(db)
  if (real.length === 0) return
  throw new CommandError(
    `this database is not a demo's (it has ${named(real)}); ` +
      'run rollcall serve, or set ROLLCALL_DATA or DATABASE_URL to another database for the demo',
  )
}

/** The participant of the demo and a registry for each kind that has synthetic people, made where they are missing. */
export async function ensureDemoDirectory(
  db: Database,
): Promise<{ readonly registries: readonly Registry[]; readonly participant: Participant }> {
  const { sender_id } =
    (await findParticipant(db, PARTICIPANT.sender_id)) ??
    (await addParticipant(db, { ...PARTICIPANT, demo: true }))
  // That of an earlier version may not yet.
  const participant = await setSubscriptionSettings(db, sender_id, SUBSCRIPTIONS)
  const { allowed } = await findCallbackSettings(db, participant.id)
  if (allowed.length === 0) await setCallbackSettings(db, participant.id, { allowed: CALLBACKS_ALLOWED })
  const registries: Registry[] = []
  for (const { kind } of KIND_GENERATORS) registries.push(await ensureRegistry(db, kind))
  return { registries, participant }
}

/** Its namespace is the name of its kind. */
async function ensureRegistry(db: Database, kind: string): Promise<Registry> {
  const found = await findRegistry(db, kind)
  if (found === null) {
    return addRegistry(db, { namespace: kind, kind, sender_id: `${kind}.rollcall.example`, demo: true })
  }
  await ensureRecordTables(db, found)
  // A newer version of the kind may have more indexes; nobody runs a command for a demo.
  await applyIndexes({ db }, { namespace: kind })
  return registryAt(db, kind)
}

function named(entries: readonly string[]): string {
  const more = entries.length - NAMED
  return entries.slice(0, NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** The people of each registry, and how many documents it has. */
export const DEMO_PEOPLE = { seed: 'demo', count: 2_000 } as const
export const DEMO_RECORDS = DEMO_PEOPLE.count

/** Lines that are handed over at once. */
const PIECE = 200

/**
 * Fills the registries that are empty, all at the same time. A registry is filled in one transaction: one whose
 * filling was cut short is empty, and filled at the next start.
 * @returns the namespaces that were filled
 */
export async function fillEmptyRegistries(db: Database, registries: readonly Registry[]): Promise<string[]> {
  const filled = await Promise.all(
    registries.map(async (registry) => {
      if (await hasRecords(db, registry)) return []
      await fill(db, registry)
      return [registry.namespace]
    }),
  )
  return filled.flat()
}

async function fill(db: Database, registry: Registry): Promise<void> {
  const source = Readable.from(pieces(generateLines(registry.kind.name, DEMO_PEOPLE)))
  const { written } = await importFile(db, registry, source, { format: 'ndjson', batchEntries: DEMO_RECORDS })
  if (written !== DEMO_RECORDS) throw new Error(`only ${written} records went into ${registry.namespace}`)
}

function* pieces(lines: Iterable<string>): Generator<string> {
  let piece: string[] = []
  for (const line of lines) {
    piece.push(line)
    if (piece.length < PIECE) continue
    yield `${piece.join('\n')}\n`
    piece = []
  }
  if (piece.length > 0) yield `${piece.join('\n')}\n`
}
