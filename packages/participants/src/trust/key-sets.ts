/**
 * The key sets that participants and consent authorities publish at their registered `jwks_uri` (D19), fetched through
 * the address guard and cached. An address in a message is never fetched.
 */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { Memo } from '@rollcall/base/shared/memo'
import type { Participant } from '@rollcall/core/model/participant'
import type { Log } from '@rollcall/observe/log'
import { type Fetched, KEY_SET, KeySetProblem, type PublicKey, publicKeysOf, Refreshed, readKeySet } from '@rollcall/protocol'
import type { AddressGuard, AddressGuardOwner } from '../egress/address-guard.ts'
import type { GuardedAnswer } from '../egress/guarded-request.ts'
import { AddressRefused, RequestFailed } from '../egress/problems.ts'

/** The participant that owns a key set, with the address of the set. */
export type KeySetOwner = AddressGuardOwner & Pick<Participant, 'sender_id' | 'jwks_uri'>

export interface KeySets {
  /**
   * The published keys of a participant. Empty when it has no jwks_uri, or when the keys cannot be fetched and the cache has no
   * keys that may still be used. Never throws.
   * @param kid the kid of the wanted key; null: any key. A cached set without the key is fetched again; it is returned as it is
   * when the last request for it ended less than 30 seconds ago
   */
  get(participant: KeySetOwner, kid: string | null): Promise<readonly PublicKey[]>
}

const KEY_SET_REQUEST = {
  method: 'GET',
  headers: { accept: 'application/jwk-set+json, application/json' },
  maxBytes: 256 * 1024,
} as const
/** Milliseconds for the whole request for a key set. */
const KEY_SET_TIMEOUT_MS = 5_000
const JSON_MEDIA_TYPE_PATTERN = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i

export function createKeySetFetcher(deps: {
  readonly guardOf: (participant: AddressGuardOwner) => Pick<AddressGuard, 'request'>
  readonly log: Pick<Log, 'warn'>
  readonly clock?: Pick<Clock, 'now'>
  readonly timeoutMs?: number
}): KeySets {
  const { guardOf, log, clock = SYSTEM_CLOCK, timeoutMs = KEY_SET_TIMEOUT_MS } = deps
  const sets = new Memo<Refreshed<readonly PublicKey[]>>()
  const rules = {
    pause: { withValue: KEY_SET.pause, without: KEY_SET.pause },
    survives: (error: unknown) => !(error instanceof KeySetProblem && error.exposed),
    now: clock.now,
  }

  const fetchKeys = async ({ id, sender_id, outgoing }: KeySetOwner, address: string): Promise<Fetched<readonly PublicKey[]>> => {
    try {
      const answer = await guardOf({ id, outgoing }).request(address, { ...KEY_SET_REQUEST, timeoutMs })
      return { ...KEY_SET, value: await publicKeysOf(readKeySet(requireKeySetText(answer)), sender_id) }
    } catch (error) {
      log.warn({ sender_id, problem: keySetErrorText(error) }, 'key set not fetched')
      throw error
    }
  }

  return {
    async get(participant, kid) {
      const { id, jwks_uri, outgoing } = participant
      if (jwks_uri === null) return []
      // When the address or the allowed hosts (`outgoing`) of the participant change, the key set is fetched anew.
      const set = sets.of(id, JSON.stringify([jwks_uri, outgoing]), () => new Refreshed(rules))
      const isKnown = (keys: readonly PublicKey[]): boolean => kid === null || keys.some((key) => key.kid === kid)
      return set.get(() => fetchKeys(participant, jwks_uri), isKnown).catch(() => [])
    },
  }
}

/** Checks the answer to a request for a key set, and returns its body as text. @throws KeySetProblem */
function requireKeySetText({ status, headers, body }: GuardedAnswer): string {
  if (status !== 200) throw new KeySetProblem(`the answer has status ${status}`)
  const type = headers['content-type']
  if (typeof type !== 'string' || !JSON_MEDIA_TYPE_PATTERN.test(type)) {
    throw new KeySetProblem('the answer is not of type application/jwk-set+json or application/json')
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch {
    throw new KeySetProblem('the key set is no JSON that is read here')
  }
}

/** The text of an expected error. For any other error its class, because its message may have anything in it. */
function keySetErrorText(error: unknown): string {
  const expected = error instanceof AddressRefused || error instanceof RequestFailed || error instanceof KeySetProblem
  if (expected) return error.message
  return error instanceof Error ? error.name : typeof error
}
