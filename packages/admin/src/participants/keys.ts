/** The public keys that operators have registered for participants. */

import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { makeDeliveriesDue } from '@rollcall/delivery/store/events/mailboxes'
import { readPublicKeyFile } from '@rollcall/participants/directory/key-file'
import {
  addParticipantKey,
  listCurrentAndFutureKeys,
  listParticipantKeys as listRows,
  type ParticipantKey,
  revokeParticipantKey as revoke,
} from '@rollcall/participants/store/participant-keys'
import { oneOf, type PublicKey, profileProblem, readPublicKey, type SignatureProfile } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, dateOf, instant, isoTime, orNull, SenderId, text } from '../members.ts'
import { requireParticipant } from './participants.ts'

export type { PublicKey } from '@rollcall/protocol'

const Kid = text('kid of the key in messages.')
const Use = oneOf(['sig', 'enc'], { description: 'sig verifies what its owner signed; with enc we encrypt for its owner.' })
const KEY_STATES = ['live', 'later', 'over', 'revoked'] as const

export const KeyResult = closed({
  kid: Kid,
  use: Use,
  algorithm: text('JOSE name of its algorithm.'),
  state: oneOf(KEY_STATES, { description: 'later: not valid yet; over: not valid any more.' }),
  thumbprint: text('RFC 7638, SHA-256.'),
  valid_from: instant('Time from which it is valid.'),
  valid_until: orNull(instant('Time until which it is valid; null: no end.')),
  revoked_at: orNull(instant('When it was revoked.')),
})

/** Registers the public keys in a text. All keys are checked before the first one is registered. */
export const addParticipantKeys = defineAct(
  {
    name: 'participant key add',
    approval: {
      when: 'always',
      role: 'own',
      async concerns({ db }: HasDatabase, { sender_id, keys, kid, use, valid_from, valid_until }) {
        const live = (await listCurrentAndFutureKeys(db, await requireParticipant(db, sender_id))).map(shownKey)
        const added = (await readKeys(sender_id, keys, { kid, use })).map(shownKey)
        const stored = live.length === 0 ? {} : { keys: live }
        return { about: { sender_id }, stored, wanted: { valid_from, valid_until, keys: [...live, ...added] } }
      },
    },
    settings: true,
    input: closed({
      sender_id: SenderId,
      keys: text('A public key in PEM, a JWK or a JWK set. A private key is refused.'),
      kid: Type.Optional(text("kid of the only key (default: the JWK's kid, else its RFC 7638 thumbprint).")),
      use: Type.Optional(Use),
      valid_from: Type.Optional(instant('Time from which the keys are valid (default: now).')),
      valid_until: Type.Optional(orNull(instant('Time until which the keys are valid; null: no end.'))),
    }),
    result: Type.Array(KeyResult),
  },
  async ({ db }: HasDatabase, { sender_id, keys, kid, use, valid_from, valid_until }) => {
    const read = await readKeys(sender_id, keys, { kid, use })
    const times = {
      ...(valid_from !== undefined && { valid_from: dateOf(valid_from) }),
      ...(valid_until !== undefined && { valid_until: valid_until === null ? null : dateOf(valid_until) }),
    }
    const participant = await requireParticipant(db, sender_id)
    refuseUnusableKeys(participant, read)
    const added: ParticipantKey[] = []
    for (const key of read) added.push(await addParticipantKey(db, participant, { ...key, ...times }))
    // Messages that could not be encrypted, because a key was missing, may be sent now.
    await makeDeliveriesDue(db, participant.id)
    return added.map(keyWithState)
  },
)

/** Reads and checks the public keys in a text. @throws AdminRefusal, KeyRefused */
export async function readKeys(
  sender_id: string,
  keys: string,
  { kid, use }: { readonly kid?: string | undefined; readonly use?: 'sig' | 'enc' | undefined },
): Promise<readonly PublicKey[]> {
  const jwks = readPublicKeyFile(keys)
  if (jwks.length > 1 && kid !== undefined) {
    throw new AdminRefusal('one kid is given, for more than one key; give each key by itself')
  }
  const context = { sender_id, ...(kid !== undefined && { kid }), ...(use !== undefined && { use }) }
  return Promise.all(jwks.map((jwk) => readPublicKey(jwk, context)))
}

/** A key as a second operator sees it. */
export const shownKey = ({ kid, use, thumbprint }: Pick<PublicKey, 'kid' | 'use' | 'thumbprint'>) => ({ kid, use, thumbprint })

/** Refuses signature keys of algorithms that the participant's profile does not have. @throws AdminRefusal */
function refuseUnusableKeys(
  { sender_id, signature_profile }: Participant,
  keys: readonly { readonly use: 'sig' | 'enc'; readonly algorithm: string }[],
): void {
  const { algorithms } = signature_profile
  const unusable = keys.find(({ use, algorithm }) => use === 'sig' && algorithms.every((name) => name !== algorithm))
  if (unusable === undefined) return
  throw new AdminRefusal(
    `the key is for ${unusable.algorithm}, and the signature profile of ${sender_id} accepts ${algorithms.join(', ')} only; ` +
      `if it signs with this key, first run rollcall participant policy ${sender_id} --profile ${profileOptionText(signature_profile, unusable.algorithm)}; if the key is for encryption, add --use enc`,
  )
}

/**
 * Returns the profile with another algorithm, as a text for the option --profile: its parts, joined by commas. If the layout does
 * not allow the algorithm, the text is only the algorithm. The option reads it as the default profile with this algorithm.
 */
function profileOptionText({ layout, canonical_form, digest_prefix }: SignatureProfile, algorithm: string): string {
  const form = { layout, canonical_form, digest_prefix }
  if (profileProblem({ ...form, algorithms: [algorithm] }) !== null) return algorithm
  return [...Object.values(form), algorithm].filter((word) => word !== '').join(',')
}

/** Lists every key that was ever registered for a participant, the newest first. */
export const listParticipantKeys = defineAdminFunction(
  { input: closed({ sender_id: SenderId }), result: Type.Array(KeyResult) },
  async ({ db }: HasDatabase, { sender_id }) => (await listRows(db, await requireParticipant(db, sender_id))).map(keyWithState),
)

const PublicKeys = Type.Array(
  closed({
    kid: Kid,
    use: Use,
    algorithm: text('JOSE name of its algorithm.'),
    thumbprint: text('RFC 7638, SHA-256.'),
    public_jwk: Type.Unsafe<ParticipantKey['public_jwk']>({ type: 'object', description: 'The members of the key.' }),
  }),
)

/** Lists the keys of a participant that are neither revoked nor ended, for signatures and for encryption, as JWKs. */
export const listPublicKeys = defineAdminFunction(
  { input: closed({ sender_id: SenderId }), result: PublicKeys },
  async ({ db }: HasDatabase, { sender_id }) => {
    const live = await listCurrentAndFutureKeys(db, await requireParticipant(db, sender_id))
    return live.map(({ kid, use, algorithm, thumbprint, public_jwk }) => ({ kid, use, algorithm, thumbprint, public_jwk }))
  },
)

/** Reads and checks the public keys in a text, and returns them as JWKs. Nothing is registered. */
export const readPublicKeys = defineAdminFunction(
  {
    input: closed({ sender_id: SenderId, keys: text('A public key in PEM, a JWK or a JWK set.'), use: Type.Optional(Use) }),
    result: PublicKeys,
  },
  async (_: object, { sender_id, keys, use }) =>
    Promise.all(readPublicKeyFile(keys).map((jwk) => readPublicKey(jwk, { sender_id, ...(use !== undefined && { use }) }))),
)

/** Revokes a key for ever; within a second no server takes it any more. */
export const revokeParticipantKey = defineAct(
  {
    name: 'participant key revoke',
    approval: 'never',
    settings: true,
    input: closed({ sender_id: SenderId, kid: Kid }),
    result: KeyResult,
  },
  async ({ db }: HasDatabase, { sender_id, kid }) => keyWithState(await revokeWithJournal(db, sender_id, kid)),
)

async function revokeWithJournal(db: Database, sender_id: string, kid: string): Promise<ParticipantKey> {
  const participant = await requireParticipant(db, sender_id)
  const live = (await listRows(db, participant)).find((key) => key.kid === kid && key.revoked_at === null)
  // `revoke` refuses the call, because there is no live key with this kid.
  if (live === undefined) return revoke(db, participant, kid)
  const { use, algorithm, public_jwk, thumbprint } = live
  const key = { kid, use, algorithm, public_jwk, thumbprint }
  return db.journal.write({ kind: 'participant_key_revoked', participant: sender_id, kid, key }, () =>
    revoke(db, participant, kid),
  )
}

function keyWithState(key: ParticipantKey) {
  const { kid, use, algorithm, thumbprint, valid_from, valid_until, revoked_at } = key
  return {
    kid,
    use,
    algorithm,
    state: keyStateOf(key),
    thumbprint,
    valid_from: isoTime(valid_from),
    valid_until: isoTime(valid_until),
    revoked_at: isoTime(revoked_at),
  }
}

function keyStateOf({ valid_from, valid_until, revoked_at }: ParticipantKey, now = Date.now()): (typeof KEY_STATES)[number] {
  if (revoked_at !== null) return 'revoked'
  if (now < valid_from.getTime()) return 'later'
  return valid_until === null || now < valid_until.getTime() ? 'live' : 'over'
}
