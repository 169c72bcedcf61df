/**
 * The key sets that participants publish at their registered `jwks_uri` (D19), fetched through their address guards
 * and remembered. No address that a message names is ever fetched.
 */

import type { AddressGuard } from '../egress/address-guard.ts'
import type { Answer } from '../egress/guarded-request.ts'
import type { GuardOwner } from '../egress/guards.ts'
import { AddressRefused, RequestFailed } from '../egress/problems.ts'
import type { Participant } from '../model/participant.ts'
import type { Log } from '../observe/log.ts'
import type { PublicKey } from '../store/directory/participant-keys.ts'
import { KeySetProblem, readKeySet } from './key-set-document.ts'

/** Whose key set, and where it is. */
export type KeySetOwner = GuardOwner & Pick<Participant, 'sender_id' | 'jwks_uri'>

export interface KeySets {
  /**
   * The keys that the participant publishes, none where it has no jwks_uri or they cannot be had. Never throws.
   * @param kid the key that is looked for; a set without it is fetched anew, unless that was just done
   */
  get(participant: KeySetOwner, kid: string | null): Promise<readonly PublicKey[]>
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
/** From this age on a set is fetched before it is used. */
const MAX_AGE = 10 * MINUTE
/** Up to this age it is used when it cannot be fetched. */
const MAX_STALE = 24 * 60 * MINUTE
/** Between two requests for a participant's set, whatever the reason. */
const PAUSE = 30 * SECOND
const REQUEST = {
  method: 'GET',
  headers: { accept: 'application/jwk-set+json, application/json' },
  maxBytes: 256 * 1024,
} as const
/** Milliseconds for all of a request. */
const TIMEOUT = 5 * SECOND
const JSON_TYPE = /^application\/(?:[\w.-]+\+)?json *(?:;|$)/i

interface Held {
  /** The address and what it was allowed by: a change of either is another set. */
  readonly source: string
  keys: readonly PublicKey[]
  fetched: number
  attempted: number
  pending: Promise<void> | null
}

/** @param parts.now milliseconds of a clock that is never set back */
export function createKeySets(parts: {
  readonly guardOf: (participant: GuardOwner) => AddressGuard
  readonly log: Log
  readonly now?: () => number
  readonly timeoutMs?: number
}): KeySets {
  const { guardOf, log, now = () => performance.now(), timeoutMs = TIMEOUT } = parts
  const all = new Map<number, Held>()

  const heldFor = ({ id, jwks_uri, outgoing }: KeySetOwner): Held => {
    const source = JSON.stringify([jwks_uri, outgoing])
    const known = all.get(id)
    if (known?.source === source) return known
    const held = { source, keys: [], fetched: -Infinity, attempted: -Infinity, pending: null }
    all.set(id, held)
    return held
  }

  const ask = ({ id, outgoing }: GuardOwner, address: string): Promise<Answer> =>
    guardOf({ id, outgoing }).request(address, { ...REQUEST, timeoutMs })

  const refresh = async (held: Held, participant: KeySetOwner, address: string): Promise<void> => {
    held.attempted = now()
    try {
      held.keys = await keysIn(await ask(participant, address), participant.sender_id)
      held.fetched = held.attempted
    } catch (error) {
      if (error instanceof KeySetProblem && error.exposed) {
        held.keys = []
        held.fetched = -Infinity
      }
      log.warn({ sender_id: participant.sender_id, problem: problemText(error) }, 'key set not fetched')
    }
  }

  return {
    async get(participant, kid) {
      const { jwks_uri } = participant
      if (jwks_uri === null) return []
      const held = heldFor(participant)
      const known = kid === null || held.keys.some((key) => key.kid === kid)
      if (now() - held.fetched >= MAX_AGE || !known) {
        if (held.pending === null && now() - held.attempted >= PAUSE) {
          held.pending = refresh(held, participant, jwks_uri).finally(() => {
            held.pending = null
          })
        }
        await held.pending
      }
      return now() - held.fetched <= MAX_STALE ? held.keys : []
    },
  }
}

/** @throws KeySetProblem */
async function keysIn(answer: Answer, sender_id: string): Promise<readonly PublicKey[]> {
  const { status, headers, body } = answer
  if (status !== 200) throw new KeySetProblem(`the answer has status ${status}`)
  const type = headers['content-type']
  if (typeof type !== 'string' || !JSON_TYPE.test(type)) {
    throw new KeySetProblem('the answer is not of type application/jwk-set+json or application/json')
  }
  return readKeySet(body, sender_id)
}

/** Its own words for what is expected; of anything else only its class. */
function problemText(error: unknown): string {
  const expected =
    error instanceof AddressRefused || error instanceof RequestFailed || error instanceof KeySetProblem
  if (expected) return error.message
  return error instanceof Error ? error.name : typeof error
}
