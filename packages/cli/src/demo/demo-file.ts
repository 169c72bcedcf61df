/** demo.json, by which tools find the demo: they need this fixed form. Only the file's owner may read it. */
import { open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type DemoSample, findDemoSamples } from '@rollcall/admin/demo/demo-samples'
import { makeDataDirectory } from '@rollcall/base/shared/data-directory'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { REG_TYPE_PREFIX, TOKEN_PATH } from '@rollcall/protocol'
import type { Config } from '@rollcall/settings/config'
import { demoJsonPath } from '@rollcall/settings/storage'
import type { DemoCredentials } from './credentials.ts'

export interface DemoFile {
  readonly base_url: string
  readonly token_url: string
  /** The participant of the demo that may do everything. */
  readonly participant: DemoCredentials
  /** The participant of the demo that may look up people of one registry, and sees little of them. */
  readonly restricted: DemoCredentials
  readonly admin: DemoAdmin
  readonly registries: readonly DemoRegistry[]
}

/** The admin API of the demo. */
export interface DemoAdmin {
  /** Address of the operator's listener, without a path. */
  readonly base_url: string
  readonly token: string
}

export interface DemoRegistry {
  readonly namespace: string
  readonly kind: string
  readonly receiver_id: string
  readonly reg_type: string
  readonly reg_record_type: string
  readonly samples: readonly DemoSample[]
}

export const demoFilePath = (config: Pick<Config, 'dataDirectory'>): string => demoJsonPath(config)

/** The members of the file that are participants. */
export const DEMO_PARTICIPANTS = ['participant', 'restricted'] as const

type UncheckedCredentials = Partial<Record<keyof DemoCredentials, unknown>>

/** Reads the participants that an earlier start wrote; empty when the file cannot be read. */
export async function readParticipants(
  path: string,
): Promise<Readonly<Record<(typeof DEMO_PARTICIPANTS)[number], UncheckedCredentials>>> {
  const file = parseDemoFile(await readFile(path, 'utf8').catch(() => '{}'))
  const written = (value: unknown): UncheckedCredentials => (typeof value === 'object' && value !== null ? value : {})
  return { participant: written(file.participant), restricted: written(file.restricted) }
}

function parseDemoFile(text: string): { readonly participant?: unknown; readonly restricted?: unknown } {
  try {
    return JSON.parse(text) ?? {}
  } catch {
    return {}
  }
}

/** Makes the content of the file for a demo at `base_url`. */
export async function makeDemoFileContent(
  db: Database,
  demo: Pick<DemoFile, 'base_url' | 'participant' | 'restricted' | 'admin'> & { readonly registries: readonly Registry[] },
): Promise<DemoFile> {
  const { base_url, participant, restricted, admin } = demo
  return {
    base_url,
    token_url: `${base_url}/${TOKEN_PATH}`,
    participant,
    restricted,
    admin,
    registries: await Promise.all(demo.registries.map((registry) => describeRegistry(db, registry))),
  }
}

async function describeRegistry(db: Database, registry: Registry): Promise<DemoRegistry> {
  const { namespace, kind, sender_id } = registry
  return {
    namespace,
    kind: kind.name,
    receiver_id: sender_id,
    reg_type: `${REG_TYPE_PREFIX}${kind.reg_type.name}`,
    reg_record_type: kind.record_types[0].emitted,
    samples: await findDemoSamples(db, registry),
  }
}

/** Replaces the file, or makes it with its directories. */
export async function writePrivateFile(path: string, text: string): Promise<void> {
  await makeDataDirectory(dirname(path))
  const unfinished = `${path}.new`
  await rm(unfinished, { force: true })
  // The new file must not exist: another user could have made it, with permissions of their choice.
  const handle = await open(unfinished, 'wx', 0o600)
  try {
    await handle.writeFile(text)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(unfinished, path)
}
