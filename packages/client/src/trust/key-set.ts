/** The public keys of a peer: given, or fetched from where it publishes them (RFC 7517; N14). */
import { isJsonObject, isPrivateJwk, JsonError, type Jwk, parseJson } from '@rollcall/protocol'
import { TransportError } from '../errors.ts'
import { type HttpSettings, send } from '../http/post.ts'

export interface JwkSet {
  readonly keys: readonly Jwk[]
}

export interface KeySet {
  /** The keys as they are known; `renewed` asks again, because one of them was looked for in vain. */
  get(options?: { readonly renewed?: boolean }): Promise<readonly Jwk[]>
}

/** Keys in one set; more are refused. */
const KEYS = 20
/**
 * Milliseconds: how long a fetched set is believed, may be used while it cannot be fetched, how often it is asked for, and
 * how often while there is none.
 */
const AGE = { fresh: 600_000, stale: 24 * 3_600_000, pause: 30_000, pause_without: 1_000 }

/** Keys that do not change. @throws TypeError for a private or symmetric key among them, or what is no set */
export function givenKeySet(set: JwkSet): KeySet {
  const keys = readKeySet(set)
  if (keys === null)
    throw new TypeError('a set of public keys must be {keys: [...]}, with no private key in it')
  return { get: async () => keys }
}

/** Keys that are fetched when they are needed; all who wait share one request. */
export function fetchedKeySet(http: HttpSettings, url: string, now: () => number = Date.now): KeySet {
  let held: { readonly keys: readonly Jwk[]; readonly at: number } | undefined
  let askedAt = Number.NEGATIVE_INFINITY
  let problem: unknown
  let fetching: Promise<readonly Jwk[]> | undefined

  const fetchOnce = (): Promise<readonly Jwk[]> => {
    fetching ??= fetchKeys(http, url)
      .then(
        (keys) => {
          held = { keys, at: now() }
          return keys
        },
        (error: unknown) => {
          problem = error
          throw error
        },
      )
      .finally(() => {
        askedAt = now()
        fetching = undefined
      })
    return fetching
  }

  return {
    async get({ renewed = false } = {}) {
      // Whoever makes us look for keys in vain must not make us ask again and again.
      const lately = fetching === undefined && now() - askedAt < AGE.pause_without
      if (held === undefined && lately) throw problem
      const age = held === undefined ? Number.POSITIVE_INFINITY : now() - held.at
      const mayAsk = fetching !== undefined || now() - askedAt >= AGE.pause
      const wanted = age >= AGE.fresh || renewed
      if (held !== undefined && (!wanted || !mayAsk) && age < AGE.stale) return held.keys
      try {
        return await fetchOnce()
      } catch (error) {
        if (held !== undefined && age < AGE.stale && error instanceof TransportError) return held.keys
        throw error
      }
    },
  }
}

async function fetchKeys(http: HttpSettings, url: string): Promise<readonly Jwk[]> {
  const { status, text } = await send(http, url, { method: 'GET', headers: { Accept: 'application/json' } })
  const keys = status === 200 ? readKeySet(parsed(text)) : null
  if (keys === null) {
    throw new TransportError('unreadable', 'the address of the key set answers with no set of public keys', {
      httpStatus: status,
    })
  }
  return keys
}

/** A set that shows what only its owner may know is none. */
function readKeySet(value: unknown): readonly Jwk[] | null {
  const keys: unknown = isJsonObject(value) ? value.keys : undefined
  if (!Array.isArray(keys) || keys.length > KEYS || !keys.every(isPublic)) return null
  return keys
}

function isPublic(key: unknown): key is Jwk {
  return isJsonObject(key) && typeof key.kty === 'string' && key.kty !== 'oct' && !isPrivateJwk(key)
}

function parsed(text: string): unknown {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return null
    throw error
  }
}
