/** The demo participant's own keys, to sign with and to be encrypted for: made once, the same over restarts. */
import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import {
  addParticipantKey,
  type Database,
  KeyRefused,
  type KeyUse,
  listLiveKeys,
  type Participant,
  readPublicKey,
  revokeParticipantKey,
  StoreRefusal,
} from '@rollcall/server'

/** A key of the participant's as demo.json has it. */
export interface DemoKey {
  readonly kid: string
  readonly private_jwk: Readonly<Record<string, unknown>>
}

/** The keys of the demo participant; `algorithm` is the third part of a signature's kidId. */
export interface DemoKeys {
  readonly sign: DemoKey & { readonly algorithm: 'ed25519' }
  readonly encrypt: DemoKey
}

/** How each key is made. */
const MAKE: Readonly<Record<KeyUse, () => JsonWebKey>> = {
  sig: () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
  enc: () => ({
    ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
    alg: 'RSA-OAEP-256',
  }),
}

/**
 * The keys that were written down, where the database still has them; else new ones, registered.
 * @param written what demo.json says, as far as it can be read
 */
export async function demoKeys(
  db: Database,
  participant: Participant,
  written: Partial<Record<keyof DemoKeys, unknown>>,
): Promise<DemoKeys> {
  const sign = await demoKey(db, participant, 'sig', written.sign)
  const encrypt = await demoKey(db, participant, 'enc', written.encrypt)
  return { sign: { kid: sign.kid, algorithm: 'ed25519', private_jwk: sign.private_jwk }, encrypt }
}

async function demoKey(
  db: Database,
  participant: Participant,
  use: KeyUse,
  written: unknown,
): Promise<DemoKey> {
  const live = await listLiveKeys(db, participant)
  const kept = asDemoKey(written)
  if (kept !== null) {
    const thumbprint = await thumbprintOf(participant, use, kept)
    if (live.some((key) => key.kid === kept.kid && key.thumbprint === thumbprint)) return kept
  }
  // What demo.json does not know any more is nobody's: it must not pile up.
  for (const { kid, use: other } of live) {
    if (other === use) await revokeParticipantKey(db, participant, kid)
  }
  const private_jwk = MAKE[use]() as DemoKey['private_jwk']
  const key = await readPublicKey(publicHalf(private_jwk), { sender_id: participant.sender_id, use })
  await addParticipantKey(db, participant, key)
  return { kid: key.kid, private_jwk: { ...private_jwk, kid: key.kid, use } }
}

function asDemoKey(value: unknown): DemoKey | null {
  if (typeof value !== 'object' || value === null) return null
  const { kid, private_jwk } = value as Partial<DemoKey>
  if (typeof kid !== 'string' || typeof private_jwk !== 'object' || private_jwk === null) return null
  return { kid, private_jwk }
}

/** Null where the file was altered into what is no key. */
async function thumbprintOf(
  { sender_id }: Participant,
  use: KeyUse,
  { private_jwk }: DemoKey,
): Promise<string | null> {
  try {
    return (await readPublicKey(publicHalf(private_jwk), { sender_id, use })).thumbprint
  } catch (error) {
    if (error instanceof KeyRefused || error instanceof StoreRefusal) return null
    throw error
  }
}

function publicHalf({ kty, crv, x, n, e, alg }: DemoKey['private_jwk']): Record<string, unknown> {
  const members = Object.entries({ kty, crv, x, n, e, alg })
  return Object.fromEntries(members.filter(([, value]) => value !== undefined))
}
