/** The client secrets and keys of the demo's participants, which stay the same over restarts, and operator tokens. */

import { generateKeyPairSync, type JsonWebKey } from 'node:crypto'
import type { BaseActDeps } from '@rollcall/admin/act'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import { keepOrRotateClientSecret } from '@rollcall/admin/demo/demo-secret'
import { addOperator, revokeOperator } from '@rollcall/admin/operators/operators'
import { makeSignInLink } from '@rollcall/admin/operators/sessions'
import { addParticipantKeys, listPublicKeys, readPublicKeys, revokeParticipantKey } from '@rollcall/admin/participants/keys'
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'

/** The dependencies of functions that make credentials of the demo. The demo passes the caller `demo`. */
export interface DemoDeps extends BaseActDeps {
  readonly db: Database
}

/** Returns the secret and keys of a demo participant: each as in demo.json if the database still has it, otherwise new. */
export async function keepOrMakeDemoCredentials(
  deps: DemoDeps,
  participant: Participant,
  written: Partial<Record<'client_secret' | keyof DemoKeys, unknown>>,
): Promise<DemoCredentials> {
  const { sender_id, client_id } = participant
  const client_secret = await keepOrRotateClientSecret(deps, participant, written.client_secret)
  return { sender_id, client_id, client_secret, ...(await keepOrMakeDemoKeys(deps, sender_id, written)) }
}

/** A participant as demo.json has it. */
export interface DemoCredentials extends DemoKeys {
  readonly sender_id: string
  readonly client_id: string
  readonly client_secret: string
}

/** Operators of the demo: `program` has its token in demo.json; `console` has all rights and signs in to the console. */
const DEMO_OPERATORS = {
  program: { name: 'demo', roles: ['operate', 'publish'] },
  console: { name: 'demo-console', roles: ['own'] },
} as const

/** Makes a new token for the admin API at each start; the earlier one is revoked. */
export const makeDemoOperatorToken = (deps: DemoDeps): Promise<string> => renewOperatorToken(deps, DEMO_OPERATORS.program)

/**
 * Makes a link that can be used once to sign in to the console. Nobody sees the token of its operator.
 * @param console_url the address of the console
 */
export async function makeDemoSignInLink(deps: DemoDeps, console_url: string): Promise<string> {
  await renewOperatorToken(deps, DEMO_OPERATORS.console)
  const { path } = await makeSignInLink(deps, { name: DEMO_OPERATORS.console.name })
  return `${console_url}${path}`
}

async function renewOperatorToken(
  deps: DemoDeps,
  { name, roles }: (typeof DEMO_OPERATORS)[keyof typeof DEMO_OPERATORS],
): Promise<string> {
  await revokeOperator(deps, { name }).catch((error: unknown) => {
    if (!(error instanceof AdminRefusal)) throw error
  })
  const { token } = await addOperator(deps, { name, roles })
  return token
}

type KeyUse = 'sig' | 'enc'

/** A private key of a participant in demo.json. */
export interface DemoKey {
  readonly kid: string
  readonly private_jwk: Readonly<Record<string, unknown>>
}

/** The keys of a demo participant. `algorithm` is for the kidId of signatures, which is `sender_id|kid|algorithm`. */
export interface DemoKeys {
  readonly sign: DemoKey & { readonly algorithm: 'ed25519' }
  readonly encrypt: DemoKey
}

/** For each use of a key: makes a new private key. */
const KEY_MAKERS_BY_USE: Readonly<Record<KeyUse, () => JsonWebKey>> = {
  sig: () => generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }),
  enc: () => ({
    ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }),
    alg: 'RSA-OAEP-256',
  }),
}

/**
 * Returns the keys of demo.json that are still registered. Makes and registers a new key in place of each other one.
 * @param written the participant's entry in demo.json; members may be missing or wrong
 */
async function keepOrMakeDemoKeys(
  deps: DemoDeps,
  sender_id: string,
  written: Partial<Record<keyof DemoKeys, unknown>>,
): Promise<DemoKeys> {
  const sign = await keepOrMakeDemoKey(deps, sender_id, 'sig', written.sign)
  const encrypt = await keepOrMakeDemoKey(deps, sender_id, 'enc', written.encrypt)
  return { sign: { kid: sign.kid, algorithm: 'ed25519', private_jwk: sign.private_jwk }, encrypt }
}

async function keepOrMakeDemoKey(deps: DemoDeps, sender_id: string, use: KeyUse, written: unknown): Promise<DemoKey> {
  const registeredKeys = await listPublicKeys(deps, { sender_id })
  const before = asDemoKey(written)
  if (before !== null) {
    const thumbprint = await thumbprintOf(sender_id, use, before)
    if (registeredKeys.some((key) => key.kid === before.kid && key.thumbprint === thumbprint)) return before
  }
  // Nobody can use keys that are not in demo.json. They are revoked, so that their number does not grow.
  for (const { kid, use: other } of registeredKeys) {
    if (other === use) await revokeParticipantKey(deps, { sender_id, kid })
  }
  const private_jwk = KEY_MAKERS_BY_USE[use]() as DemoKey['private_jwk']
  const [key] = await addParticipantKeys(deps, { sender_id, use, keys: publicJwkText(private_jwk) })
  if (key === undefined) throw new Error('unreachable: one key was given')
  return { kid: key.kid, private_jwk: { ...private_jwk, kid: key.kid, use } }
}

function asDemoKey(value: unknown): DemoKey | null {
  if (typeof value !== 'object' || value === null) return null
  const { kid, private_jwk } = value as Partial<DemoKey>
  if (typeof kid !== 'string' || typeof private_jwk !== 'object' || private_jwk === null) return null
  return { kid, private_jwk }
}

/** The thumbprint of a key in demo.json; null when the file was altered and the key is not valid. */
async function thumbprintOf(sender_id: string, use: KeyUse, { private_jwk }: DemoKey): Promise<string | null> {
  const keys = publicJwkText(private_jwk)
  const [key] = await readPublicKeys({}, { sender_id, use, keys }).catch((error: unknown) => {
    if (error instanceof AdminRefusal) return []
    throw error
  })
  return key?.thumbprint ?? null
}

/** Returns the public part of a private JWK as JSON text. */
function publicJwkText({ kty, crv, x, n, e, alg }: DemoKey['private_jwk']): string {
  return JSON.stringify({ kty, crv, x, n, e, alg })
}
