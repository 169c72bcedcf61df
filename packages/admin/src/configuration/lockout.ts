/** Which participants can ask something, before and after a configuration file is applied. */
import { ALL_NAMES } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { StoredGrant } from '@rollcall/participants/store/grants'
import type { ParticipantKey } from '@rollcall/participants/store/participant-keys'
import { isInForce } from '../grants/grants.ts'

/** The facts that decide whether a participant can ask. */
export interface AskerFacts {
  readonly participant: Pick<Participant, 'status' | 'signature_policy' | 'jwks_uri'>
  readonly keys: readonly Pick<ParticipantKey, 'use' | 'valid_from' | 'valid_until'>[]
  readonly grants: readonly PlannedGrant[]
}

/** A grant, stored or wanted by the file, without its id. */
export type PlannedGrant = Pick<StoredGrant, 'terms' | 'valid_from' | 'valid_until'>

/**
 * True when a participant is active, is granted an operation now and, if its messages must be signed, has a valid
 * signature key or the address of a key set.
 */
export const canAsk = ({ participant, keys, grants }: AskerFacts, now: Date): boolean =>
  participant.status === 'active' &&
  grants.some((grant) => isInForce(grant, now) && hasOperation(grant)) &&
  (participant.signature_policy !== 'required' ||
    participant.jwks_uri !== null ||
    keys.some((key) => key.use === 'sig' && isInForce(key, now)))

const hasOperation = ({ terms: { operations } }: PlannedGrant): boolean => operations === ALL_NAMES || operations.length > 0
