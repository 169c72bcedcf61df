/** The policy of a participant: how it signs and encrypts, and which hosts our requests to it may reach. */

import { ENCRYPTION_POLICIES, type Participant, SIGNATURE_POLICIES } from '@rollcall/core/model/participant'
import { defineAct } from '../act.ts'

export {
  ENCRYPTION_POLICIES,
  type EncryptionPolicy,
  SIGNATURE_POLICIES,
  type SignaturePolicy,
} from '@rollcall/core/model/participant'

import type { AllowedHost } from '@rollcall/core/model/allowed-hosts'
import { makeDeliveriesDue } from '@rollcall/delivery/store/events/mailboxes'
import { isKeyMadeOnDemand } from '@rollcall/keys/own-key-definitions'
import { ensureOwnKeys } from '@rollcall/keys/rotation'
import { createAddressGuard } from '@rollcall/participants/egress/address-guard'
import { findUnreachableReason } from '@rollcall/participants/egress/address-rules'
import { setMessagePolicy } from '@rollcall/participants/store/participants'
import {
  ALGORITHMS,
  type AlgorithmName,
  CANONICAL_FORMS,
  type CanonicalFormName,
  DIGESTS,
  type DigestPrefix,
  LAYOUTS,
  type LayoutName,
  oneOf,
  profileProblem,
  replyAlgorithm,
} from '@rollcall/protocol'
import Type from 'typebox'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { isSameJson } from '../approvals/diff-lines.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, flag, orNull, SenderId, text } from '../members.ts'
import { requireParticipant } from './participants.ts'

// The casts are safe: `LAYOUTS`, `CANONICAL_FORMS`, `DIGESTS` and `ALGORITHMS` have exactly the names of the types.
const Profile = closed(
  {
    layout: oneOf(Object.keys(LAYOUTS) as LayoutName[]),
    canonical_form: oneOf(Object.keys(CANONICAL_FORMS) as CanonicalFormName[]),
    digest_prefix: oneOf(Object.keys(DIGESTS) as DigestPrefix[]),
    algorithms: Type.Array(oneOf(Object.keys(ALGORITHMS) as AlgorithmName[])),
  },
  { description: 'How it signs, and how we sign for it (docs/signature.md).' },
)

const POLICY_MEMBERS = {
  signature_policy: oneOf(SIGNATURE_POLICIES, { description: 'Whether its messages must be signed.' }),
  allow_unsigned: flag('Permits a signature_policy other than required; it is given together with it.'),
  signature_profile: Profile,
  encryption_policy: oneOf(ENCRYPTION_POLICIES, { description: 'Whether messages are encrypted.' }),
  jwks_uri: orNull(text('Address of the key set that it publishes; null: only registered keys count.')),
} as const

export const MessagePolicyResult = closed(POLICY_MEMBERS, { description: 'How it signs and encrypts.' })

/** Changes the given members of the policy, if any, and returns all of it. */
export const changeParticipantPolicy = defineAct(
  {
    name: 'participant policy',
    approval: {
      when: 'wider',
      role: 'own',
      stored: async ({ db }: HasVault, { sender_id }) => messagePolicyOf(await requireParticipant(db, sender_id)),
      compare: ({ sender_id, ...given }, stored) =>
        isWeakerPolicy(stored, given) ? { about: { sender_id }, stored, wanted: given } : null,
    },
    settings: true,
    input: closed({
      sender_id: SenderId,
      signature_policy: Type.Optional(POLICY_MEMBERS.signature_policy),
      allow_unsigned: Type.Optional(POLICY_MEMBERS.allow_unsigned),
      signature_profile: Type.Optional(POLICY_MEMBERS.signature_profile),
      encryption_policy: Type.Optional(POLICY_MEMBERS.encryption_policy),
      jwks_uri: Type.Optional(POLICY_MEMBERS.jwks_uri),
    }),
    result: closed({ sender_id: SenderId, ...POLICY_MEMBERS }),
  },
  async ({ db, vault }: HasVault, { sender_id, ...changes }) => {
    const { signature_profile } = changes
    // Our key of the algorithm must exist before the policy applies: from then on it signs the answers.
    if (signature_profile !== undefined && profileProblem(signature_profile) === null) {
      const algorithm = replyAlgorithm(signature_profile)
      // Keys that are not made on demand exist since the first start. For their algorithms the master key is not needed.
      if (isKeyMadeOnDemand(algorithm)) await ensureOwnKeys(db, await vault(), algorithm)
    }
    await checkKeySetAddress(await requireParticipant(db, sender_id), changes.jwks_uri)
    return { sender_id, ...messagePolicyOf(await setPolicy({ db }, sender_id, changes)) }
  },
)

type Policy = ReturnType<typeof messagePolicyOf>

/** True when a change may permit more. Changes to `required`, to allow_unsigned false and to no jwks_uri permit no more. */
function isWeakerPolicy(stored: Policy, given: { readonly [Member in keyof Policy]?: Policy[Member] | undefined }) {
  return Object.entries(given).some(([name, to]) => {
    if (to === undefined || isSameJson(to, stored[name as keyof Policy])) return false
    if (name === 'jwks_uri') return to !== null
    return to !== 'required' && !(name === 'allow_unsigned' && to === false)
  })
}

/** The settings of signatures and encryption of a participant. */
export const messagePolicyOf = (participant: Participant) => {
  const { signature_policy, allow_unsigned, signature_profile, encryption_policy, jwks_uri } = participant
  return { signature_policy, allow_unsigned, signature_profile, encryption_policy, jwks_uri }
}

async function setPolicy(
  { db }: HasDatabase,
  sender_id: string,
  changes: Parameters<typeof setMessagePolicy>[2],
): Promise<Participant> {
  const changed = await setMessagePolicy(db, sender_id, changes)
  // Deliveries that failed under the earlier policy may succeed now.
  if (Object.keys(changes).length > 0) await makeDeliveriesDue(db, changed.id)
  return changed
}

/** Checks the address of a key set without fetching it: the operator learns of an error at once. */
export async function checkKeySetAddress({ outgoing }: Participant, jwks_uri: string | null | undefined): Promise<void> {
  if (!jwks_uri) return
  const guard = createAddressGuard({ allowed: outgoing })
  try {
    await guard.check(jwks_uri)
  } finally {
    await guard.close()
  }
}

const Host = text('A name or an address, as it stands in a URL.')
const HOST_MEMBERS = {
  host: Host,
  ports: Type.Optional(
    Type.Union([Type.Array(Type.Integer({ minimum: 1, maximum: 65_535 })), Type.Literal('any')], {
      description: 'In place of port 443.',
    }),
  ),
  plainHttp: Type.Optional(flag('Messages may go to it without TLS.')),
  loopback: Type.Optional(flag('It may be an address of this machine.')),
  private: Type.Optional(flag('It may be an address of a private network.')),
} as const
export const HostsResult = Type.Array(closed(HOST_MEMBERS), {
  description: 'Hosts that our requests may reach, each with its rule.',
})

/** Allows requests to a host of a participant, in place of what was allowed for that host before. */
export const allowParticipantHost = defineAct(
  {
    name: 'participant host allow',
    approval: {
      when: 'wider',
      role: 'own',
      stored: async ({ db }: HasDatabase, { sender_id }) => hostsOf(await requireParticipant(db, sender_id)),
      compare({ sender_id, ...row }, hosts) {
        const host = hosts.find((one) => one.host === row.host)
        return isSameJson(host, row) ? null : { about: { sender_id }, stored: { host }, wanted: { host: row } }
      },
    },
    settings: true,
    input: closed({ sender_id: SenderId, ...HOST_MEMBERS }),
    result: HostsResult,
  },
  async ({ db }: HasDatabase, { sender_id, ...row }) => {
    const problem = findUnreachableReason(row)
    if (problem !== null) throw new AdminRefusal(problem)
    const { outgoing } = await requireParticipant(db, sender_id)
    return setHosts({ db }, sender_id, [...outgoing.filter(({ host }) => host !== row.host), row])
  },
)

export const listParticipantHosts = defineAdminFunction(
  { input: closed({ sender_id: SenderId }), result: HostsResult },
  async ({ db }: HasDatabase, { sender_id }) => hostsOf(await requireParticipant(db, sender_id)),
)

export const removeParticipantHost = defineAct(
  {
    name: 'participant host remove',
    approval: 'never',
    settings: true,
    input: closed({ sender_id: SenderId, host: Host }),
    result: HostsResult,
  },
  async ({ db }: HasDatabase, { sender_id, host }) => {
    const { outgoing } = await requireParticipant(db, sender_id)
    const others = outgoing.filter((row) => row.host !== host)
    if (others.length === outgoing.length) {
      throw new AdminRefusal(`nothing is allowed for ${host}`)
    }
    return setHosts({ db }, sender_id, others)
  },
)

const setHosts = async ({ db }: HasDatabase, sender_id: string, outgoing: readonly AllowedHost[]) =>
  hostsOf(await setPolicy({ db }, sender_id, { outgoing }))

const hostsOf = ({ outgoing }: Participant) => outgoing
