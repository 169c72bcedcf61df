/** Where the registries are, and as whom we ask them. The demo writes such a file: `.rollcall/demo.json`. */
import { readFile } from 'node:fs/promises'
import type { ClientOptions, Peer, Signing } from '@rollcall/client'
import type { RegistryName } from './questions.ts'

export interface Settings {
  readonly base_url: string
  readonly participant: {
    readonly sender_id: string
    readonly client_id: string
    readonly client_secret: string
    readonly sign: { readonly private_jwk: Signing['key'] }
  }
  readonly registries: readonly { readonly namespace: string; readonly receiver_id: string }[]
}

export async function readSettings(path: string): Promise<Settings> {
  return JSON.parse(await readFile(path, 'utf8')) as Settings
}

/** How to ask one of the registries. */
export function clientOptions({ base_url, participant, registries }: Settings, name: RegistryName): ClientOptions {
  const registry = registries.find(({ namespace }) => namespace === name)
  if (registry === undefined) throw new Error(`the settings name no ${name} registry`)
  const { sender_id, client_id, client_secret, sign } = participant
  return {
    base_url: `${base_url}/${name}/v1.0.0`,
    sender_id,
    receiver_id: registry.receiver_id,
    credentials: { client_id, client_secret },
    signing: { key: sign.private_jwk },
  }
}

/** The registries as senders of callbacks: we believe what they sign with the keys that they publish. */
export const peersOf = ({ base_url, registries }: Settings): readonly Peer[] =>
  registries.map(({ receiver_id }) => ({ sender_id: receiver_id, keys: `${base_url}/.well-known/jwks.json` }))
