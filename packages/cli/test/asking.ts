/** Registries that commands ask: the real server as a demo, and one of another make on loopback. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kindNamed } from '@rollcall/protocol'
import { SIGNER, signed } from '../../client/test/callbacks.ts'
import { ack, loopback, type Respond } from '../../client/test/loopback.ts'
import { type KeyPair, keyPair } from '../../core/test/key-pairs.ts'
import type { Unsigned } from '../../delivery/test/stranger/signing.ts'
import { allowLoopback } from '../../server/test/asynchronous.ts'
import { LOOPBACK } from '../../server/test/deliveries.ts'
import { type PeerOptions, sealingPeer } from '../../server/test/sealing.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import { dataDirectory } from './command.ts'

export const person = (uin: string, given_name: string) => ({
  '@type': 'Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'MOBILE', identifier_value: '+999 555 0101' },
  ],
  name: { surname: 'Okoro', given_name },
})

export interface DemoHome {
  readonly path: string
  readonly env: { readonly ROLLCALL_DATA: string }
  remove(): Promise<void>
}

interface DemoParticipant {
  readonly sender_id: string
  readonly client_id: string
  readonly secret: string
  readonly sign: { readonly kid: string; readonly privateJwk: object }
  readonly encrypt: KeyPair
}

/** A data directory with the file by which commands find a demo. */
export async function demoHome(
  base_url: string,
  { sender_id, client_id, secret, sign, encrypt }: DemoParticipant,
  namespaces: readonly string[],
): Promise<DemoHome> {
  const { path, remove } = await dataDirectory()
  const demo = {
    base_url,
    token_url: `${base_url}/oauth2/client/token`,
    participant: {
      sender_id,
      client_id,
      client_secret: secret,
      sign: { kid: sign.kid, algorithm: 'ed25519', private_jwk: { ...sign.privateJwk, kid: sign.kid } },
      encrypt: { kid: 'enc-1', private_jwk: { ...encrypt.privateJwk, kid: 'enc-1' } },
    },
    registries: namespaces.map((namespace) => ({
      namespace,
      receiver_id: `${namespace}.example`,
      reg_record_type: kindNamed(namespace)?.record_types[0].emitted,
      samples: [],
    })),
  }
  await writeFile(join(path, 'demo.json'), JSON.stringify(demo))
  return { path, env: { ROLLCALL_DATA: path }, remove }
}

const THREE = { civil: [person('0012', 'Ada'), person('0013', 'Bo'), person('0014', 'Cai')], ibr: [] }

/** Soon again, and for as long as a test is patient. */
const SCHEDULE = Array.from({ length: 100 }, () => '0.3').join(',')

/**
 * The real server, which also calls back at any port of this machine, and a demo's file for it; by default with a civil
 * registry of three people.
 */
export async function demoServer(
  registries: Readonly<Record<string, readonly object[]>> = THREE,
  settings: PeerOptions['settings'] = {},
): Promise<{ server: TestServer; home: DemoHome; close(): Promise<void> }> {
  const server = await testServer({ ROLLCALL_ROLE: 'all', ROLLCALL_RETRY_SCHEDULE: SCHEDULE })
  for (const [kind, documents] of Object.entries(registries)) await server.registry(kind, documents)
  const peer = await sealingPeer(server, 'demo.example', { decrypts: 'RSA', settings: { outgoing: [LOOPBACK], ...settings } })
  await allowLoopback(server, peer)
  const encrypt = peer.encryption
  if (encrypt === null) throw new Error('the participant has no key to decrypt with')
  const home = await demoHome(server.url, { ...peer, sign: peer.signer, encrypt }, Object.keys(registries))
  return {
    server,
    home,
    async close() {
      await server.close()
      await home.remove()
    },
  }
}

const KEYS = { keys: [{ ...publicHalf(SIGNER.privateJwk), kid: SIGNER.kid, use: 'sig' }] }

function publicHalf({ kty, crv, x }: object & Record<string, unknown>): object {
  return { kty, crv, x }
}

/** A callback, from the message that it answers. */
export type Page = (request: { transaction_id: string }) => Unsigned

/**
 * A civil registry of another make, for what ours never says: it publishes its keys, takes each search with this ack, and
 * calls back with these pages, one after the other.
 */
export async function otherRegistry(
  pages: readonly Page[],
  ack_status = 'ACK',
): Promise<{ home: DemoHome; close(): Promise<void> }> {
  const calling: Promise<void>[] = []
  const callBack = async (sender_uri: string, message: { transaction_id: string }): Promise<void> => {
    for (const page of pages) await postCallback(sender_uri, signed(page(message)))
  }
  const respond: Respond = (asked, response) => {
    if (asked.path.endsWith('/jwks.json')) return KEYS
    const { header, message } = asked.body
    calling.push(callBack(header.sender_uri, message))
    return ack(ack_status)(asked, response)
  }
  const registry = await loopback([respond])
  const sign = { kid: 'sig-1', privateJwk: keyPair('Ed25519').privateJwk }
  const participant = { sender_id: 'sp.example', client_id: 'id', secret: 'secret', sign, encrypt: keyPair('X25519') }
  const home = await demoHome(registry.url, participant, ['civil'])
  return {
    home,
    async close() {
      await Promise.allSettled(calling)
      await registry.close()
      await home.remove()
    },
  }
}

/** The status that a callback is answered with. */
export async function postCallback(url: string, body: string): Promise<number> {
  const headers = { 'Content-Type': 'application/json' }
  const response = await fetch(url, { method: 'POST', body, headers })
  await response.body?.cancel()
  return response.status
}
