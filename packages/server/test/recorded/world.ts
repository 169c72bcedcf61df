/** The server of the recorded exchanges: six registries of synthetic people, and participants of every policy. */
import { KINDS } from '@rollcall/protocol'
import { generate } from '@rollcall/synthetic'
import { type AsyncPeer, asyncPeer, withReceiver } from '../asynchronous.ts'
import { LOOPBACK } from '../deliveries.ts'
import { type Peer, sealingPeer } from '../sealing.ts'
import { type TestServer, testServer } from '../server.ts'
import { identifiersOf } from './synchronous.ts'

export interface World {
  readonly server: TestServer
  /** Leaves messages unsigned. */
  readonly plain: AsyncPeer
  /** Signs each message and opens what is encrypted. */
  readonly sealed: Peer & AsyncPeer
  /** An identifier of the first record of the civil registry. */
  readonly identifier: { readonly type: string; readonly value: string }
  close(): Promise<void>
}

/** Records of each kind: enough for several pages, few enough to read. */
export const RECORDS = 30
export const SEED = 'recorded'

export async function openWorld(): Promise<World> {
  const server = await testServer({ ROLLCALL_ROLE: 'all', limits: { search_results: 25 } })
  for (const { name } of KINDS) {
    await server.registry(name, [...generate(name, { count: RECORDS, seed: SEED })])
  }
  const plain = await asyncPeer(server, 'plain.example')
  const signing = await sealingPeer(server, 'sealed.example', { settings: { outgoing: [LOOPBACK] }, decrypts: 'RSA' })
  const sealed = await withReceiver(server, signing)
  const [identifier] = identifiersOf([...generate('civil', { count: 1, seed: SEED })])
  if (identifier === undefined) throw new Error('the first record has no identifier')
  return {
    server,
    plain,
    sealed,
    identifier,
    async close() {
      await Promise.all([plain.receiver.close(), sealed.receiver.close()])
      await server.close()
    },
  }
}
