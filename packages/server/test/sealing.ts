/**
 * Participants that seal their messages, for tests: their keys are registered, and what they send is signed and
 * encrypted, and what they get is verified and opened, by `stranger/`, which shares no code with the server.
 */

import type { Participant } from '@rollcall/core/model/participant'
import { addParticipantKey, type KeyPeriod, type ParticipantKey } from '@rollcall/participants/store/participant-keys'
import { findParticipant, type ParticipantSettings } from '@rollcall/participants/store/participants'
import { type KeyUse, readPublicKey } from '@rollcall/protocol'
import { expect } from 'vitest'
import { type KeyPair, keyPair } from '../../core/test/key-pairs.ts'
import {
  type Algorithm,
  bodyText,
  type Changes,
  isSigned,
  type Profile,
  type PublishedKey,
  type Signer,
  SPEC,
  signature,
  type Unsigned,
} from '../../delivery/test/stranger/signing.ts'
import { type Answer, bearer, post, searchRequest, type TestParticipant, type TestServer } from './server.ts'
import { decrypt, type Encrypted, encrypt, type ReceiverKey } from './stranger/encryption.ts'

const KEY_TYPES = { EdDSA: 'Ed25519', ES256: 'P-256', RS256: 'RSA' } as const
const ENC_ALGORITHMS = { RSA: 'RSA-OAEP-256', 'P-256': 'ECDH-ES+A256KW', X25519: 'ECDH-ES+A256KW' } as const

export interface Peer extends TestParticipant {
  readonly signer: Signer
  readonly profile: Profile
  /** The key pair for which replies are encrypted; null: it has none. */
  readonly encryption: KeyPair | null
}

export interface PeerOptions {
  readonly settings?: Partial<ParticipantSettings>
  readonly profile?: Profile
  readonly decrypts?: keyof typeof ENC_ALGORITHMS | null
}

/** A participant that must sign, and whose keys are registered. */
export async function sealingPeer(
  server: TestServer,
  sender_id: string,
  { settings = {}, profile = SPEC, decrypts = null }: PeerOptions = {},
): Promise<Peer> {
  const added = await server.participant(sender_id, { signature_policy: 'required', signature_profile: profile, ...settings })
  const [algorithm = 'EdDSA'] = profile.algorithms
  const signer = await newSigner(server, sender_id, 'sig-1', algorithm)
  const encryption = decrypts === null ? null : keyPair(decrypts)
  if (encryption !== null) await registerKey(server, sender_id, encryption, { use: 'enc', kid: 'enc-1' })
  return { ...added, signer, profile, encryption }
}

/** Makes and registers a key pair for signatures. A server that has just read the keys learns of it within a second. */
export async function newSigner(
  server: TestServer,
  sender_id: string,
  kid: string,
  algorithm: Algorithm = 'EdDSA',
  validity: KeyPeriod = {},
): Promise<Signer> {
  const pair = keyPair(KEY_TYPES[algorithm])
  await registerKey(server, sender_id, pair, { use: 'sig', kid }, validity)
  return { kid, algorithm, privateJwk: pair.privateJwk }
}

export async function registerKey(
  server: TestServer,
  sender_id: string,
  { jwk }: KeyPair,
  { use, kid }: { use: KeyUse; kid: string },
  validity: KeyPeriod = {},
): Promise<ParticipantKey> {
  const key = await readPublicKey(jwk, { sender_id, use, kid })
  return addParticipantKey(server.database.db, await registered(server, sender_id), { ...key, ...validity })
}

export async function registered(server: TestServer, sender_id: string): Promise<Participant> {
  const found = await findParticipant(server.database.db, sender_id)
  if (found === null) throw new Error(`no participant ${sender_id}`)
  return found
}

type SearchChanges = Parameters<typeof searchRequest>[2]

/** A search for one identifier, dated now, to be sealed. */
export function searchBy(
  peer: TestParticipant,
  { header, ...changes }: SearchChanges = {},
  query: object = { type: 'UIN', value: '0012' },
) {
  const message_ts = new Date().toISOString()
  return searchRequest(peer.sender_id, query, { ...changes, header: { message_ts, ...header } })
}

/** The body of a message as its sender signs it. */
export const signedBody = (peer: Peer, envelope: Unsigned, changes: Changes = {}): string =>
  bodyText(envelope, signature(envelope, peer.signer, peer.profile, changes))

/** Returns the message, encrypted for one of our keys and marked as encrypted. */
export function encrypted(
  envelope: Unsigned,
  key: ReceiverKey,
  options: Parameters<typeof encrypt>[2] = {},
): Unsigned & { readonly message: Encrypted } {
  return { header: { ...envelope.header, is_msg_encrypted: true }, message: encrypt(envelope.message, key, options) }
}

export const searchUrl = (server: Pick<TestServer, 'url'>, namespace = 'civil'): string =>
  `${server.url}/${namespace}/v1.0.0/registry/sync/search`

/** Sends a body with the participant's token. */
export const sendAs = (
  server: Pick<TestServer, 'url'>,
  by: TestParticipant,
  body: string | object,
  namespace = 'civil',
): Promise<Answer> => post(searchUrl(server, namespace), body, bearer(by))

/** Our keys as anybody can fetch them. */
export async function publishedKeys(server: TestServer): Promise<readonly (PublishedKey & ReceiverKey)[]> {
  const response = await fetch(`${server.url}/.well-known/jwks.json`)
  return ((await response.json()) as { keys: (PublishedKey & ReceiverKey)[] }).keys
}

/** The first published key of this algorithm. */
export async function publishedKey(server: TestServer, alg: string): Promise<PublishedKey & ReceiverKey> {
  const found = (await publishedKeys(server)).find((key) => key.alg === alg)
  if (found === undefined) throw new Error(`no published key is for ${alg}`)
  return found
}

/** Expects a reply that the registry has signed, in the profile that its reader can verify. */
export async function expectSealed(
  server: TestServer,
  answer: Answer,
  sender_id = 'civil.example',
  profile: Profile = SPEC,
): Promise<void> {
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(isSigned(JSON.stringify(answer.body), sender_id, await publishedKeys(server), profile)).toBe(true)
}

/** An encrypted reply, decrypted by its participant. */
export function opened(answer: Answer, { encryption }: Pick<Peer, 'encryption'>) {
  expect(answer.body.header.is_msg_encrypted).toBe(true)
  if (encryption === null) throw new Error('it has no key to open with')
  return JSON.parse(decrypt(answer.body.message, encryption.privateJwk))
}
