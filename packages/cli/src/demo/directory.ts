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
  type GrantTerms,
  hasRecords,
  importFile,
  type Participant,
  type Registry,
  registryAt,
  setCallbackSettings,
} from '@rollcall/server'
import { grantTemplate, listGrants, setGrant } from '@rollcall/server/admin/grants'
import { applyIndexes } from '@rollcall/server/admin/indexes'
import { addPurpose } from '@rollcall/server/admin/purposes'
import { generateLines, KIND_GENERATORS } from '@rollcall/synthetic'
import { CommandError } from '../failure.ts'

/** Tools of participants run on this machine, and are not slowed down. */
const LOCAL = {
  max_page_size: 1_000,
  rate_limit: Infinity,
  concurrency_limit: Infinity,
  max_subscriptions: Infinity,
  demo: true,
  outgoing: ['127.0.0.1', 'localhost', '::1'].map((host) => ({
    host,
    ports: 'any' as const,
    plainHttp: true,
    loopback: true,
  })),
} as const

/** May do everything in every registry, and may leave messages unsigned. */
const PARTICIPANT = {
  ...LOCAL,
  sender_id: 'demo.spmis.example',
  name: 'Demo social protection MIS',
  signature_policy: 'if-present',
  allow_unsigned: true,
} as const

/** May look up people of the civil registry under their consent, and sees little of them. */
const RESTRICTED = {
  ...LOCAL,
  sender_id: 'restricted.spmis.example',
  name: 'Demo MIS with a narrow grant',
} as const

const RESTRICTED_GRANT = {
  namespace: 'civil',
  terms: {
    operations: ['search', 'txn-status'],
    query_forms: ['identifier'],
    identifier_types: 'all',
    see: ['identifier', 'name', 'birth_date'],
    basis: 'consent',
    purposes: ['eligibility'],
  },
} as const satisfies { namespace: string; terms: GrantTerms }

const PURPOSE = 'Eligibility for social assistance'

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

export interface DemoDirectory {
  readonly registries: readonly Registry[]
  readonly participant: Participant
  readonly restricted: Participant
}

/** The participants of the demo, a registry for each kind that has synthetic people, and grants, made where they are missing. */
export async function ensureDemoDirectory(db: Database): Promise<DemoDirectory> {
  const participant = await ensureParticipant(db, PARTICIPANT)
  const restricted = await ensureParticipant(db, RESTRICTED)
  const registries: Registry[] = []
  for (const { kind } of KIND_GENERATORS) registries.push(await ensureRegistry(db, kind))
  for (const { namespace } of registries) {
    const terms = await grantTemplate({ db }, { namespace, template: 'everything' })
    await ensureGrant(db, participant, { namespace, terms })
  }
  for (const code of RESTRICTED_GRANT.terms.purposes) await addPurpose({ db }, { code, text: PURPOSE })
  await ensureGrant(db, restricted, RESTRICTED_GRANT)
  return { registries, participant, restricted }
}

async function ensureParticipant(
  db: Database,
  settings: typeof PARTICIPANT | typeof RESTRICTED,
): Promise<Participant> {
  const participant = (await findParticipant(db, settings.sender_id)) ?? (await addParticipant(db, settings))
  const { allowed } = await findCallbackSettings(db, participant.id)
  if (allowed.length === 0) await setCallbackSettings(db, participant.id, { allowed: CALLBACKS_ALLOWED })
  return participant
}

/** What somebody granted in the demo since stays. */
async function ensureGrant(
  db: Database,
  { sender_id }: Participant,
  { namespace, terms }: { readonly namespace: string; readonly terms: GrantTerms },
): Promise<void> {
  const granted = await listGrants({ db }, { sender_id, namespace })
  if (granted.length === 0) await setGrant({ db }, { sender_id, namespace, terms })
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
