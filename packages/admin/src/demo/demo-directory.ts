/** The registries, people and participants of the demo. */

import type { Readable } from 'node:stream'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { importFile } from '@rollcall/import/import-file'
import { listRegistriesAndParticipants } from '@rollcall/participants/store/demo-data'
import { findParticipant } from '@rollcall/participants/store/participants'
import { hasRecords } from '@rollcall/records/records/record-counts'
import { ensureRecordTables } from '@rollcall/records/records/record-tables'
import { applyIndexes } from '@rollcall/records/registries/index-apply'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import { applyConfiguration, type Configuration, exportConfiguration } from '../configuration/apply.ts'

export interface AppliedDemo {
  /** The registries in the order of the file. */
  readonly registries: readonly Registry[]
  /** The participant that may do everything. */
  readonly participant: Participant
  /** The participant that may look up people of one registry, and sees little of them. */
  readonly restricted: Participant
  /** The new client secrets of participants that had none, by `sender_id`. */
  readonly secrets: ReadonlyMap<string, string>
}

type DemoDeps = Parameters<typeof applyConfiguration>[0]

/** The demo as a configuration file, and the role of each of its participants. */
export interface DemoPlan {
  readonly file: Configuration
  /** The `sender_id` of the participant in each role. */
  readonly participants: Readonly<Record<'participant' | 'restricted', string>>
}

/**
 * Marks a new database as a demo's, and applies the demo's file. Stored purposes, participants and grants stay; only what they
 * lack is added.
 */
export async function applyDemo(deps: DemoDeps, { file, participants }: DemoPlan): Promise<AppliedDemo> {
  const { db } = deps
  await becomeDemoDatabase(db, file)
  const stored = await exportConfiguration(deps, {})
  const { credentials } = await applyConfiguration(deps, { configuration: keepStoredChanges(stored, file) })
  const registries: Registry[] = []
  for (const namespace of Object.keys(file.registries ?? {})) {
    registries.push(await ensureColumnsAndIndexes(db, namespace))
  }
  return {
    registries,
    participant: await requireDemoParticipant(db, participants.participant),
    restricted: await requireDemoParticipant(db, participants.restricted),
    secrets: new Map(credentials.map(({ sender_id, client_secret }) => [sender_id, client_secret])),
  }
}

/** Marks a database without demo data as a demo's: adds the first registry of the file, with the mark `demo`. */
async function becomeDemoDatabase(db: Database, { registries = {} }: Configuration): Promise<void> {
  const { demo } = await listRegistriesAndParticipants(db)
  const [first] = Object.entries(registries)
  if (demo.length > 0 || first === undefined) return
  const [namespace, { kind, sender_id = namespace }] = first
  await addRegistry(db, { namespace, kind, sender_id, demo: true })
}

/**
 * Returns the content of the file, changed so that applying it overwrites no change made in the database. Stored purposes, and
 * grants of stored participants, stay as they are: the file adds only those that are not stored. A stored participant gets
 * nothing else from the file, except the file's callback settings if its stored ones allow no address.
 */
function keepStoredChanges(stored: Configuration, file: Configuration): Configuration {
  const { participants = {}, purposes } = file
  const entries = Object.entries(participants).map(([sender_id, entry]) => {
    const held = stored.participants?.[sender_id]
    if (held === undefined) return [sender_id, entry]
    const callback = held.callback?.allowed?.length === 0 ? entry.callback : undefined
    return [sender_id, { grants: { ...entry.grants, ...held.grants }, ...(callback && { callback }) }]
  })
  return { ...file, purposes: { ...purposes, ...stored.purposes }, participants: Object.fromEntries(entries) }
}

async function requireDemoParticipant(db: Database, sender_id: string): Promise<Participant> {
  const participant = await findParticipant(db, sender_id)
  if (participant === null) throw new Error(`the file of the demo has no participant ${sender_id}`)
  return participant
}

/** Makes the columns and indexes that this version needs, and returns the registry: nobody runs `index apply` for a demo. */
async function ensureColumnsAndIndexes(db: Database, namespace: string): Promise<Registry> {
  await ensureRecordTables(db, await requireRegistry(db, namespace))
  await applyIndexes(db, namespace)
  return requireRegistry(db, namespace)
}

/** The records to fill a registry of the demo with. */
export interface DemoRecords {
  readonly count: number
  /** Makes `count` records for a registry of the kind with this name, as NDJSON. */
  readonly make: (kind: string, count: number) => Readable
}

/**
 * Fills the registries that are empty, all at the same time. A registry is filled in one transaction: one whose
 * filling was cut short is empty, and filled at the next start.
 * @returns the namespaces that were filled
 */
export async function fillEmptyRegistries(
  db: Database,
  registries: readonly Registry[],
  records: DemoRecords,
): Promise<string[]> {
  const filled = await Promise.all(
    registries.map(async (registry) => {
      if (await hasRecords(db, registry)) return []
      await fillRegistry(db, registry, records)
      return [registry.namespace]
    }),
  )
  return filled.flat()
}

async function fillRegistry(db: Database, registry: Registry, { count, make }: DemoRecords): Promise<void> {
  const source = make(registry.kind.name, count)
  const { written } = await importFile(db, registry, source, { format: 'ndjson', batchEntries: count })
  if (written !== count) throw new Error(`only ${written} records went into ${registry.namespace}`)
}
