/** A participant of the real server whose callbacks come to a receiver on loopback. */
import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Jwk } from '@rollcall/protocol'
import { afterEach } from 'vitest'
import { allowLoopback } from '../../server/test/asynchronous.ts'
import { LOOPBACK } from '../../server/test/deliveries.ts'
import { type Peer, type PeerOptions, sealingPeer } from '../../server/test/sealing.ts'
import type { TestServer } from '../../server/test/server.ts'
import { type ClientOptions, callbacksAt, Receiver, type ReceiverOptions, RegistryClient } from '../src/index.ts'
import { nodeListener } from '../src/node/index.ts'

/** Closes of all that the test has opened. */
export const open: (() => Promise<unknown>)[] = []
afterEach(() => Promise.all(open.splice(0).map((close) => close())))

/** The address of a server with this listener, until the end of the test. */
export async function listening(listener: RequestListener): Promise<string> {
  const listens: Server = createServer(listener).listen(0, '127.0.0.1')
  await once(listens, 'listening')
  open.push(async () => {
    listens.close()
    listens.closeAllConnections()
    await once(listens, 'close')
  })
  return `http://127.0.0.1:${(listens.address() as AddressInfo).port}`
}

export interface CallbackWorld {
  readonly peer?: PeerOptions
  readonly receiver?: (peer: Peer) => Partial<ReceiverOptions>
  readonly client?: (peer: Peer) => Partial<ClientOptions>
  /** Where the receiver listens. */
  readonly bridge?: (receiver: Receiver) => Promise<string>
}

let participants = 0

/** A new participant of the server: its receiver, and its client. */
export async function callbackWorld(server: TestServer, { peer: about, receiver: options, client, bridge }: CallbackWorld = {}) {
  participants += 1
  const settings = { outgoing: [LOOPBACK], ...about?.settings }
  const peer = await sealingPeer(server, `caller-${participants}.example`, { ...about, settings })
  await allowLoopback(server, peer)
  const receiver = new Receiver({
    receiver_id: peer.sender_id,
    peers: [{ sender_id: 'civil.example', keys: `${server.url}/.well-known/jwks.json` }],
    ...options?.(peer),
  })
  const url = await (bridge ?? ((made) => listening(nodeListener(made))))(receiver)
  const asking = new RegistryClient({
    base_url: `${server.url}/civil/v1.0.0`,
    sender_id: peer.sender_id,
    receiver_id: 'civil.example',
    credentials: { client_id: peer.client_id, client_secret: peer.secret },
    signing: { key: { ...peer.signer.privateJwk, kid: peer.signer.kid } as Jwk },
    sender_uri: callbacksAt(url),
    receiver,
    ...client?.(peer),
  })
  return { asking, peer, receiver }
}
