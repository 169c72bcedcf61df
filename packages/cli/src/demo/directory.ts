/** The registries, people and participant of the demo. */

import { fileURLToPath } from 'node:url'
import {
  applyConfiguration,
  type Configuration,
  exportConfiguration,
} from '@rollcall/admin/configuration/apply'
import { applyIndexes } from '@rollcall/admin/registries/indexes'
import {
  addRegistry,
  type Database,
  directoryContent,
  ensureRecordTables,
  findParticipant,
  hasRecords,
  importFile,
  type Participant,
  type Registry,
  registryAt,
} from '@rollcall/server'
import { DEMO_RECORDS, syntheticRecords } from '../synthetic-people.ts'
import { readYaml } from '../yaml.ts'

/** What the demo consists of, as a configuration file. */
export const DEMO_CONFIGURATION = fileURLToPath(new URL('./demo.yaml', import.meta.url))

/** Its participants, by the names that demo.json has for them. */
const PARTICIPANTS = { participant: 'demo.spmis.example', restricted: 'restricted.spmis.example' } as const

export interface DemoDirectory {
  /** In the order of the file. */
  readonly registries: readonly Registry[]
  readonly participant: Participant
  readonly restricted: Participant
  /** The client secrets of new participants, by `sender_id`. */
  readonly secrets: ReadonlyMap<string, string>
}

type Needs = Parameters<typeof applyConfiguration>[0]

/** Applies the file of the demo, where the database does not have yet what it names. */
export async function ensureDemoDirectory(needs: Needs): Promise<DemoDirectory> {
  const { db } = needs
  const { value } = await readYaml(DEMO_CONFIGURATION)
  const file = value as Configuration
  await becomeDemoDatabase(db, file)
  const stored = await exportConfiguration(needs, {})
  const { credentials } = await applyConfiguration(needs, { configuration: missingIn(stored, file) })
  const registries: Registry[] = []
  for (const namespace of Object.keys(file.registries ?? {})) {
    registries.push(await currentRegistry(db, namespace))
  }
  return {
    registries,
    participant: await participantNamed(db, PARTICIPANTS.participant),
    restricted: await participantNamed(db, PARTICIPANTS.restricted),
    secrets: new Map(credentials.map(({ sender_id, client_secret }) => [sender_id, client_secret])),
  }
}

/** The first registry makes a new database the demo's; what is added afterwards is the demo's too. */
async function becomeDemoDatabase(db: Database, { registries = {} }: Configuration): Promise<void> {
  const { demo } = await directoryContent(db)
  const [first] = Object.entries(registries)
  if (demo.length > 0 || first === undefined) return
  const [namespace, { kind, sender_id = namespace }] = first
  await addRegistry(db, { namespace, kind, sender_id, demo: true })
}

/** What somebody changed in the demo since stays; what a newer version of the file has more is added. */
function missingIn(stored: Configuration, file: Configuration): Configuration {
  const { participants = {}, purposes } = file
  const entries = Object.entries(participants).map(([sender_id, entry]) => {
    const held = stored.participants?.[sender_id]
    if (held === undefined) return [sender_id, entry]
    const callback = held.callback?.allowed?.length === 0 ? entry.callback : undefined
    return [sender_id, { grants: { ...entry.grants, ...held.grants }, ...(callback && { callback }) }]
  })
  return {
    ...file,
    purposes: { ...purposes, ...stored.purposes },
    participants: Object.fromEntries(entries),
  }
}

async function participantNamed(db: Database, sender_id: string): Promise<Participant> {
  const participant = await findParticipant(db, sender_id)
  if (participant === null) throw new Error(`the file of the demo has no participant ${sender_id}`)
  return participant
}

/** A newer version of a kind may have more columns and indexes; nobody runs a command for a demo. */
async function currentRegistry(db: Database, namespace: string): Promise<Registry> {
  await ensureRecordTables(db, await registryAt(db, namespace))
  await applyIndexes({ db }, { namespace })
  return registryAt(db, namespace)
}

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
  const source = syntheticRecords(registry.kind.name, DEMO_RECORDS)
  const { written } = await importFile(db, registry, source, { format: 'ndjson', batchEntries: DEMO_RECORDS })
  if (written !== DEMO_RECORDS) throw new Error(`only ${written} records went into ${registry.namespace}`)
}
