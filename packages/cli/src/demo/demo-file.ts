/** demo.json, by which tools find the demo: its shape is a contract with them. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { REG_TYPE_PREFIX, TOKEN_PATH } from '@rollcall/protocol'
import type { Config, Database, Participant, Registry } from '@rollcall/server'
import type { DemoKeys } from './keys.ts'
import { registrySamples, type Sample } from './samples.ts'

export interface DemoFile {
  readonly base_url: string
  readonly token_url: string
  readonly participant: DemoCredentials
  readonly registries: readonly DemoRegistry[]
}

export interface DemoCredentials extends DemoKeys {
  readonly sender_id: string
  readonly client_id: string
  readonly client_secret: string
}

export interface DemoRegistry {
  readonly namespace: string
  readonly kind: string
  readonly receiver_id: string
  readonly reg_type: string
  readonly reg_record_type: string
  readonly samples: readonly Sample[]
}

export const demoFilePath = ({ dataDirectory }: Pick<Config, 'dataDirectory'>): string =>
  join(dataDirectory, 'demo.json')

/** What an earlier start wrote down of the participant; nothing where it cannot be read. */
export async function writtenParticipant(
  path: string,
): Promise<Partial<Record<keyof DemoCredentials, unknown>>> {
  const text = await readFile(path, 'utf8').catch(() => '')
  try {
    const { participant } = JSON.parse(text) as { participant?: unknown }
    return typeof participant === 'object' && participant !== null ? participant : {}
  } catch {
    return {}
  }
}

/** What the file says of a demo that is reached at `base_url`. */
export async function describeDemo(
  db: Database,
  demo: {
    readonly base_url: string
    readonly participant: Participant
    readonly client_secret: string
    readonly keys: DemoKeys
    readonly registries: readonly Registry[]
  },
): Promise<DemoFile> {
  const { base_url, client_secret, participant, keys } = demo
  const { sender_id, client_id } = participant
  return {
    base_url,
    token_url: `${base_url}/${TOKEN_PATH}`,
    participant: { sender_id, client_id, client_secret, ...keys },
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
    samples: await registrySamples(db, registry),
  }
}
