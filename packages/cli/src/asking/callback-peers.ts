/** Whose callbacks `rollcall listen` takes: the registries that are named, or the demo's. */
import type { Peer } from '@rollcall/client'
import type { Jwk } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { readDemo } from './demo.ts'
import { readPrivateKey, readPublicKeys } from './private-key.ts'
import type { KeyOptions } from './registry-options.ts'
import { publishedKeysAt, readAddress } from './target.ts'

export interface PeerOptions extends KeyOptions {
  readonly peer?: readonly string[]
  readonly senderId?: string
}

export interface Listening {
  readonly peers: readonly Peer[]
  readonly receiver_id: string
  readonly decryption_keys: readonly Jwk[]
}

/** @throws CommandError */
export async function readListening(options: PeerOptions): Promise<Listening> {
  const { peer: named, senderId, verify, decryptKey, decryptKid } = options
  const policy = verify === undefined ? {} : { signature: verify }
  const own = decryptKey === undefined ? null : [await readPrivateKey(decryptKey, decryptKid)]
  if (named !== undefined) {
    if (senderId === undefined)
      throw new CommandError('--peer needs --sender-id, our own sender_id at these registries')
    const peers = await Promise.all(named.map((text) => readPeer(text, policy)))
    return { peers, receiver_id: senderId, decryption_keys: own ?? [] }
  }
  const demo = await readDemo()
  if (demo === null) {
    throw new CommandError(
      'name the registries that may call back with --peer, or start the demo first (npm start)',
    )
  }
  const keys = publishedKeysAt(demo.base_url)
  return {
    peers: demo.registries.map(({ receiver_id }) => ({ sender_id: receiver_id, keys, ...policy })),
    receiver_id: senderId ?? demo.participant.sender_id,
    decryption_keys: own ?? [demo.participant.encrypt.private_jwk as Jwk],
  }
}

/** `civil.example=https://civil.example`: a host that publishes its keys, a key set's own address, or a file. */
async function readPeer(text: string, policy: Pick<Peer, 'signature'>): Promise<Peer> {
  const at = text.indexOf('=')
  const sender_id = at === -1 ? text : text.slice(0, at)
  if (sender_id === '')
    throw new CommandError(
      '--peer must be a sender_id and its keys, such as civil.example=https://registry.example',
    )
  if (at === -1) {
    if (policy.signature === 'off') return { sender_id, ...policy }
    throw new CommandError(
      `--peer ${sender_id} names no keys; write ${sender_id}=ADDRESS or ${sender_id}=FILE`,
    )
  }
  const keys = text.slice(at + 1)
  if (!/^https?:/.test(keys)) return { sender_id, ...policy, keys: await readPublicKeys(keys) }
  const address = readAddress('--peer', keys)
  return { sender_id, ...policy, keys: address.pathname === '/' ? publishedKeysAt(address) : address.href }
}
