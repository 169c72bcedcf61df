/** Withdrawals of consents. They apply to the next query, and stop data whose sending has not begun. */

import { isUsedPurpose } from '@rollcall/consents/store/consent-uses'
import { checkJtis, liftWithdrawals, revokeSignedConsents, withdrawConsents } from '@rollcall/consents/store/withdrawals'
import { EMERGENCY_PURPOSE } from '@rollcall/core/policy/basis'
import { isTextStorable } from '@rollcall/database/text'
import { hasSubscriptionForPurpose, stopUsesOfEndedConsents } from '@rollcall/delivery/store/events/consent-stopping'
import { isConfiguredOrGrantedPurpose } from '@rollcall/participants/store/purposes'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, markPersonal, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { AuthorityName, requireAuthority } from './authorities.ts'
import { findWithdrawingPerson } from './person.ts'
import { makeReceipt, WithdrawalReceipt } from './receipt.ts'

const MOST_JTIS = 10_000

const CONSENT_FILTER_MEMBERS = {
  identifier_type: text('Type of an identifier of the person, such as UIN.'),
  identifier_value: markPersonal(text('Its value.')),
  purpose: text('Code of the purpose.'),
  participant: SenderId,
} as const

/** Withdraws one signed consent; or all consents of a person for a purpose, to one participant or to all. */
export const withdrawConsent = defineAct(
  {
    name: 'consent withdraw',
    approval: 'never',
    input: closed({
      authority: Type.Optional(AuthorityName),
      jti: Type.Optional(text('jti of the signed consent; with authority.')),
      identifier_type: Type.Optional(CONSENT_FILTER_MEMBERS.identifier_type),
      identifier_value: Type.Optional(CONSENT_FILTER_MEMBERS.identifier_value),
      purpose: Type.Optional(CONSENT_FILTER_MEMBERS.purpose),
      participant: Type.Optional(text('sender_id of the only participant that it is withdrawn from (default: all).')),
    }),
    result: WithdrawalReceipt,
  },
  async (deps: HasVault, { authority, jti, identifier_type, identifier_value, purpose, participant }) => {
    if (authority !== undefined && jti !== undefined) {
      if ((identifier_type ?? identifier_value ?? purpose ?? participant) !== undefined) throw withdrawalInputRefusal()
      const { id } = await requireAuthority(deps.db, authority)
      checkJtis([jti])
      const stopped = await deps.db.journal.write({ kind: 'consents_revoked', authority, jtis: [jti] }, async () =>
        stopUsesOfEndedConsents(deps.db, await revokeSignedConsents(deps.db, id, [jti])),
      )
      return makeReceipt(deps, { authority, jti }, stopped)
    }
    if (authority !== undefined || jti !== undefined) throw withdrawalInputRefusal()
    if (identifier_type === undefined || identifier_value === undefined || purpose === undefined) {
      throw withdrawalInputRefusal()
    }
    await checkPurposeKnown(deps, purpose)
    const { all: pseudonyms } = await findWithdrawingPerson(deps, { identifier_type, identifier_value })
    const from = participant === undefined ? null : (await requireParticipant(deps.db, participant)).id
    const act = {
      kind: 'consent_withdrawn',
      purpose,
      participant: participant ?? null,
      pseudonyms: pseudonyms.map((pseudonym) => Buffer.from(pseudonym).toString('hex')),
    } as const
    const stopped = await deps.db.journal.write(act, async () =>
      stopUsesOfEndedConsents(deps.db, await withdrawConsents(deps.db, { pseudonyms, purpose, participant: from })),
    )
    const subject = { identifier_type, identifier_value }
    return makeReceipt(deps, { subject, purpose, participant: participant ?? null }, stopped)
  },
)

/** Refuses an input that names consents in neither of the two ways, or in both. */
const withdrawalInputRefusal = (): AdminRefusal =>
  new AdminRefusal('give authority and jti, or identifier_type, identifier_value and purpose')

/** Withdraws the signed consents of a revocation list. */
export const revokeConsents = defineAct(
  {
    name: 'consent revoke',
    approval: 'never',
    input: closed({
      authority: AuthorityName,
      revoked: Type.Array(Type.String(), {
        minItems: 1,
        maxItems: MOST_JTIS,
        description: 'jti of each consent that is revoked. What was revoked before stays revoked.',
      }),
    }),
    result: WithdrawalReceipt,
  },
  async (deps: HasVault, { authority, revoked }) => {
    const { id } = await requireAuthority(deps.db, authority)
    checkJtis(revoked)
    const stopped = await deps.db.journal.write({ kind: 'consents_revoked', authority, jtis: revoked }, async () =>
      stopUsesOfEndedConsents(deps.db, await revokeSignedConsents(deps.db, id, revoked)),
    )
    return makeReceipt(deps, { authority, revoked }, stopped)
  },
)

/**
 * Cancels the withdrawals of a person for a purpose, so that consents apply again. A signed consent that was withdrawn
 * by its jti stays withdrawn.
 */
export const reinstateConsent = defineAct(
  {
    name: 'consent reinstate',
    approval: {
      when: 'always',
      role: 'own',
      confidential: ['identifier_value'],
      concerns: async (_: HasVault, asked) => ({
        about: asked,
        stored: { withdrawals: 'count' },
        wanted: { withdrawals: 'count no more' },
      }),
    },
    input: closed({ ...CONSENT_FILTER_MEMBERS, participant: Type.Optional(CONSENT_FILTER_MEMBERS.participant) }),
    result: closed({ reinstated: wholeNumber('Withdrawals that do not count any more.') }),
  },
  async (deps: HasVault, { identifier_type, identifier_value, purpose, participant }) => {
    const { own: pseudonyms } = await findWithdrawingPerson(deps, { identifier_type, identifier_value })
    const from = participant === undefined ? null : (await requireParticipant(deps.db, participant)).id
    const reinstated = await liftWithdrawals(deps.db.pool, { pseudonyms, purpose, participant: from })
    if (reinstated === 0) {
      throw new AdminRefusal('purpose: nothing is withdrawn for it by this person', { reason: 'not_found' })
    }
    return { reinstated }
  },
)

/**
 * Refuses a misspelt purpose: its withdrawal would stop nothing, and yet the person would get a receipt.
 * @throws AdminRefusal the purpose is `emergency`, or is not known
 */
async function checkPurposeKnown({ db }: HasDatabase, purpose: string): Promise<void> {
  if (purpose === EMERGENCY_PURPOSE) {
    throw new AdminRefusal('purpose: an emergency stands in place of a consent and cannot be withdrawn')
  }
  const isKnown = isTextStorable(purpose) && (await isKnownPurpose(db, purpose))
  if (isKnown) return
  throw new AdminRefusal('purpose: is neither configured nor was anything answered for it', { reason: 'not_found' })
}

/** True when a purpose is configured, or a grant of any time, a stored answer or a stored subscription names it. */
const isKnownPurpose = async (db: HasDatabase['db'], purpose: string): Promise<boolean> =>
  (await isConfiguredOrGrantedPurpose(db, purpose)) ||
  (await isUsedPurpose(db, purpose)) ||
  hasSubscriptionForPurpose(db, purpose)
