/** THE table of acts that may wait for a second operator: when each does, and what the second one sees. */

import { findAuthority } from '@rollcall/consents/store/authorities'
import { DECIDING_ROLES } from '@rollcall/core/model/operator'
import { countChange } from '@rollcall/delivery/store/deliveries/delivery-changes'
import { readKeyFile } from '@rollcall/participants/directory/key-file'
import { listGrants as listStoredGrants } from '@rollcall/participants/store/grants'
import { findCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { listLiveKeys } from '@rollcall/participants/store/participant-keys'
import { readPublicKey } from '@rollcall/protocol'
import { registryAt } from '@rollcall/records/registries/registries'
import { changeCallback } from '../callbacks/callbacks.ts'
import { showInboxMessage } from '../callbacks/inbox.ts'
import { operatorOf } from '../caller.ts'
import { applyConfiguration, planConfiguration } from '../configuration/apply.ts'
import { isSame } from '../configuration/steps.ts'
import { addConsentAuthority, described as authorityShown, keysOf } from '../consents/authorities.ts'
import { reinstateConsent } from '../consents/consents.ts'
import { replayDeliveries } from '../deliveries/changes.ts'
import { changeDeliveries, choiceOf, showDelivery, sumOf } from '../deliveries/deliveries.ts'
import { backfillSubscription } from '../events/subscription-mailbox.ts'
import { setGrant } from '../grants/grants.ts'
import { isWider } from '../grants/widening.ts'
import { openBodies, openDeliveryBody } from '../messages/bodies.ts'
import { addOperator } from '../operators/operators.ts'
import { makeSignInLink } from '../operators/sessions.ts'
import { addParticipantKeys } from '../participants/keys.ts'
import {
  addParticipant,
  enableParticipant,
  participantNamed,
  rotateParticipantSecret,
} from '../participants/participants.ts'
import { allowParticipantHost, changeParticipantPolicy, policyOf } from '../participants/policy.ts'
import { promoteParticipant } from '../participants/promote.ts'
import { erasePerson } from '../persons/erase.ts'
import { holdShown, removeHold } from '../persons/holds.ts'
import { unprotectPerson } from '../persons/protected-persons.ts'
import { requireOwner } from '../persons/retention.ts'
import { changeRegistry, described } from '../registries/registries.ts'
import { AdminRefusal } from '../use-case.ts'
import { type ActNeeds, type ApprovalAct, act } from './approval-act.ts'
import { about, always, type DiffLine, differences, emptied, lines } from './diff-lines.ts'

/** The kid, use and thumbprint of each key in a file, for the approver. */
async function thumbprints(
  sender_id: string,
  keys: string,
  given: { readonly kid?: string | undefined; readonly use?: 'sig' | 'enc' | undefined },
) {
  const context = {
    sender_id,
    ...(given.kid !== undefined && { kid: given.kid }),
    ...(given.use !== undefined && { use: given.use }),
  }
  const read = await Promise.all(readKeyFile(keys).map((jwk) => readPublicKey(jwk, context)))
  return read.map(keyShown)
}

const keyShown = ({ kid, use, thumbprint }: { kid: string; use: string; thumbprint: string }) => ({
  kid,
  use,
  thumbprint,
})

type Choice = Parameters<typeof choiceOf>[1]

/** A replay of more than one operator may do alone. */
async function largeReplay(
  { db, limits: { replay_deliveries: most } }: ActNeeds,
  { ids, ...given }: Choice & { readonly ids?: readonly string[] | undefined },
  more: object,
): Promise<readonly DiffLine[] | null> {
  const choice = { ...(await choiceOf(db, given)), ...(ids !== undefined && { ids }) }
  if (sumOf(await countChange(db, 'replay', choice), 'deliveries') <= most) return null
  // The exact number changes all the time.
  return [...about({ ...given, ...more, ids: ids?.length }), ...lines({ replayed: `more than ${most}` })]
}

export const APPROVAL_ACTS: readonly ApprovalAct[] = [
  act(setGrant, {
    role: 'own',
    async when({ db, now = () => new Date() }, { sender_id, namespace, terms, beside = false }) {
      const [participant, registry] = [await participantNamed(db, sender_id), await registryAt(db, namespace)]
      const stored = await listStoredGrants(db, { participant: participant.id, registry: registry.id })
      if (!beside && !isWider(terms, stored, now())) return null
      const before = stored.map((grant) => grant.terms)
      return [
        ...about({ sender_id, namespace, ...(beside && { beside }) }),
        ...(before.length === 1 && !beside
          ? differences({ ...terms, ...emptied(before[0] ?? {}, terms) }, before[0] ?? {})
          : [{ at: 'grants', from: before.length === 0 ? null : before, to: terms }]),
      ]
    },
  }),
  act(addParticipantKeys, {
    role: 'own',
    async when({ db }, { sender_id, keys, kid, use, valid_from, valid_until }) {
      const live = await listLiveKeys(db, await participantNamed(db, sender_id))
      const to = await thumbprints(sender_id, keys, { kid, use })
      return [
        ...about({ sender_id }),
        ...lines({ valid_from, valid_until }),
        { at: 'keys', from: live.length === 0 ? null : live.map(keyShown), to: [...live.map(keyShown), ...to] },
      ]
    },
  }),
  act(changeParticipantPolicy, {
    role: 'own',
    async when({ db }, { sender_id, ...given }) {
      const stored = policyOf(await participantNamed(db, sender_id))
      const changes = differences(given, stored)
      const isNewAddress = (given.jwks_uri ?? null) !== null && given.jwks_uri !== stored.jwks_uri
      const isWeaker = changes.some(
        ({ at, to }) => at !== 'jwks_uri' && to !== 'required' && !(at === 'allow_unsigned' && to === false),
      )
      return isNewAddress || isWeaker ? [...about({ sender_id }), ...changes] : null
    },
  }),
  act(allowParticipantHost, {
    role: 'own',
    async when({ db }, { sender_id, ...row }) {
      const { outgoing } = await participantNamed(db, sender_id)
      const from = outgoing.find(({ host }) => host === row.host) ?? null
      return isSame(from, row) ? null : [...about({ sender_id }), { at: 'host', from, to: row }]
    },
  }),
  act(changeCallback, {
    role: 'own',
    async when({ db }, { sender_id, allow, disallow = [], auth, origin, token_url, ...given }) {
      const { sealed, ...stored } = await findCallbackSettings(db, (await participantNamed(db, sender_id)).id)
      const { default_url, notify_url } = given
      const addresses = differences({ default_url, notify_url }, stored).filter(({ to }) => to !== null)
      const added = (allow ?? []).filter((address) => !stored.allowed.includes(address))
      const credentials = auth !== undefined && auth !== 'none'
      if (addresses.length === 0 && added.length === 0 && !credentials) return null
      const { token: _, client_secret: __, cert: ___, key: ____, client_id, scope, ...plain } = given
      return [
        ...about({ sender_id }),
        ...(added.length > 0 || disallow.length > 0
          ? [{ at: 'allowed', from: stored.allowed, to: { allow: added, disallow } }]
          : []),
        ...differences({ ...plain, auth }, stored),
        ...(credentials
          ? [{ at: 'credentials', from: sealed === null ? null : 'given', to: { origin, token_url, client_id, scope } }]
          : []),
      ]
    },
  }),
  act(enableParticipant, {
    role: 'own',
    async when({ db }, { sender_id }) {
      const { status: from } = await participantNamed(db, sender_id)
      return from === 'active' ? null : [...about({ sender_id }), { at: 'status', from, to: 'active' }]
    },
  }),
  act(changeRegistry, {
    role: 'own',
    // Younger persons are minors no more, and other web pages may ask.
    async when({ db }, { namespace, ...given }) {
      const stored = described(await registryAt(db, namespace))
      const isYounger = (given.majority_age ?? stored.majority_age) < stored.majority_age
      const isOpener = (given.web_origins ?? []).some((origin) => !stored.web_origins.includes(origin))
      return isYounger || isOpener ? [...about({ namespace }), ...differences(given, stored)] : null
    },
  }),
  act(reinstateConsent, {
    role: 'own',
    confidential: ['identifier_value'],
    when: (_, asked) => always(asked, { withdrawals: 'count no more' }, { withdrawals: 'count' }),
  }),
  act(addConsentAuthority, {
    role: 'own',
    async when({ db }, { name, keys = [], jwks_uri = null, hosts = [] }) {
      const found = await findAuthority(db, name)
      const wanted = authorityShown({ name, jwks_uri, outgoing: hosts, keys: await keysOf(name, keys) })
      const from = found === null ? null : authorityShown(found)
      const { name: _, ...members } = wanted
      return isSame(from, wanted) ? null : [...about({ name }), ...differences(members, from ?? {})]
    },
  }),
  act(addParticipant, {
    role: 'own',
    async when(_, { sender_id, name, environment = 'live', grants = {} }) {
      if (Object.keys(grants).length === 0) return null
      return lines({ sender_id, name, environment, grants })
    },
  }),
  act(rotateParticipantSecret, {
    role: 'own',
    // With messages that are not signed, the secret alone says who asks.
    async when({ db }, { sender_id }) {
      const { signature_policy } = await participantNamed(db, sender_id)
      return signature_policy === 'required' ? null : always({ sender_id, signature_policy }, { secret: 'a new one' })
    },
  }),
  act(promoteParticipant, {
    role: 'own',
    async when({ db }, { sender_id, keys, kid, use, jwks_uri }) {
      const { environment: from, jwks_uri: before } = await participantNamed(db, sender_id)
      return [
        ...about({ sender_id }),
        { at: 'environment', from, to: 'live' },
        { at: 'jwks_uri', from: before, to: jwks_uri ?? null },
        { at: 'keys', from: null, to: keys === undefined ? [] : await thumbprints(sender_id, keys, { kid, use }) },
      ]
    },
  }),
  act(changeDeliveries, {
    role: 'operate',
    async when(needs, { change, all, ...given }) {
      return change === 'replay' ? largeReplay(needs, given, { all }) : null
    },
  }),
  act(replayDeliveries, {
    role: 'operate',
    async when(needs, { dry_run = false, ...given }) {
      return dry_run ? null : largeReplay(needs, given, {})
    },
  }),
  act(backfillSubscription, {
    role: 'operate',
    // How many records it sends is not known before.
    when: (_, asked) => always(asked, { queues: 'every record that matches now' }),
  }),
  act(openBodies, {
    role: 'audit',
    confidential: ['reason'],
    when: (_, asked) => always(asked, { opens: 'the bodies of the message' }),
  }),
  act(openDeliveryBody, {
    role: 'audit',
    confidential: ['reason'],
    when: (_, asked) => always(asked, { opens: 'the body of the delivery' }),
  }),
  act(showDelivery, {
    role: 'audit',
    when: async (_, { id, body = false }) => (body ? always({ id }, { opens: 'the body of the delivery' }) : null),
  }),
  act(showInboxMessage, {
    role: 'audit',
    when: async (_, { body = false, ...asked }) => (body ? always(asked, { opens: 'the body of the callback' }) : null),
  }),
  act(unprotectPerson, {
    role: 'own',
    confidential: ['identifier_value'],
    when: (_, { namespace, identifier_type }) =>
      always({ namespace, identifier_type }, { protection: 'lifted' }, { protection: 'in force' }),
  }),
  act(removeHold, {
    role: 'own',
    async when(needs, { id }) {
      const from = await holdShown(needs, id)
      // The act itself says that there is none.
      return from === null ? null : [...about({ id }), { at: 'hold', from, to: null }]
    },
  }),
  act(erasePerson, {
    role: 'own',
    confidential: ['value', 'reason'],
    async when({ db, owner = db }, { type, dry_run = false }) {
      if (dry_run) return null
      await requireOwner(owner)
      return always({ type }, { erases: 'a person, from accounts and from what waits to be sent' })
    },
  }),
  act(applyConfiguration, {
    role: 'own',
    async when({ db }, { configuration, dry_run = false }) {
      if (dry_run) return null
      const { changes } = await planConfiguration({ db }, configuration)
      return changes.length === 0 ? null : changes.map(({ at, from, to }) => ({ at, from, to }))
    },
  }),
  act(addOperator, {
    role: 'own',
    // Whoever has one of these roles may decide about proposals.
    async when(_, { name, roles, registries, authority, expires_at }) {
      const decides = roles.some((role) => DECIDING_ROLES.has(role))
      return decides ? lines({ name, roles, registries, authority, expires_at }) : null
    },
  }),
  act(makeSignInLink, {
    role: 'own',
    // Whoever has a link is that operator, and would be the second one.
    async when({ caller }, { name }) {
      if (operatorOf(caller)?.name === name) return null
      throw new AdminRefusal(
        'where acts need two operators (ROLLCALL_TWO_PERSON), a link is made for the owner of ROLLCALL_OPERATOR_TOKEN alone',
        { reason: 'forbidden' },
      )
    },
  }),
]

/** Null: there is no such act. */
export const actNamed = (name: string): ApprovalAct | null => APPROVAL_ACTS.find((row) => row.name === name) ?? null
