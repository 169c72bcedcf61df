/** Reads a participant's published key set (RFC 7517, 5; public-standard 1.5). */
import { isJsonObject, isPrivateJwk, JsonError, type JsonObject, parseJson } from '@rollcall/protocol'
import { KeyRefused, readPublicKey } from '../directory/public-key.ts'
import type { PublicKey } from '../store/directory/participant-keys.ts'

/** A key set could not be fetched or is not taken. The message names the rule and nothing of the content. */
export class KeySetProblem extends Error {
  /** It gives away what only its owner may know: not one of its keys is to be believed any more. */
  readonly exposed: boolean

  constructor(rule: string, exposed = false) {
    super(rule)
    this.name = 'KeySetProblem'
    this.exposed = exposed
  }
}

/** Keys in one set. */
export const SET_KEYS = 20

/**
 * The keys that are of use here, in their order. Keys for other algorithms and uses do not count, nor do members
 * that are unknown.
 * @throws {KeySetProblem}
 */
export async function readKeySet(bytes: Uint8Array, sender_id: string): Promise<readonly PublicKey[]> {
  const jwks = jwksOf(bytes)
  if (jwks.some((jwk) => isPrivateJwk(jwk) || jwk.kty === 'oct')) {
    throw new KeySetProblem('the key set holds a private or symmetric key', true)
  }
  const keys: PublicKey[] = []
  for (const jwk of jwks) {
    const key = await usable(jwk, sender_id)
    if (key === null || keys.some(({ thumbprint }) => thumbprint === key.thumbprint)) continue
    if (keys.some(({ kid, use }) => kid === key.kid && use === key.use)) {
      throw new KeySetProblem('two keys of the key set have the same kid')
    }
    keys.push(key)
  }
  return keys
}

function jwksOf(bytes: Uint8Array): readonly JsonObject[] {
  const value = parsed(bytes)
  const keys = isJsonObject(value) ? value.keys : undefined
  if (!Array.isArray(keys) || !keys.every(isJsonObject)) {
    throw new KeySetProblem('the key set must be an object whose member keys is a list of objects')
  }
  if (keys.length > SET_KEYS) throw new KeySetProblem(`the key set has more than ${SET_KEYS} keys`)
  return keys
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

function parsed(bytes: Uint8Array): unknown {
  try {
    return parseJson(utf8.decode(bytes))
  } catch (error) {
    // What a decoder says of bytes that are no UTF-8 is a TypeError.
    if (error instanceof JsonError || error instanceof TypeError) {
      throw new KeySetProblem('the key set is no JSON that is read here')
    }
    throw error
  }
}

async function usable(jwk: JsonObject, sender_id: string): Promise<PublicKey | null> {
  try {
    return await readPublicKey(jwk, { sender_id })
  } catch (error) {
    if (error instanceof KeyRefused) return null
    throw error
  }
}
