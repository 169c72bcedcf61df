/** Changes of grants. Lists of grants are in `grants.ts`, so that listing grants does not load the code that reads queries. */

import { listAuthorities } from '@rollcall/consents/store/authorities'
import type { GrantTerms } from '@rollcall/core/model/grant'
import { addGrant, listGrants, revokeGrants } from '@rollcall/participants/store/grants'
import { listPurposes } from '@rollcall/participants/store/purposes'
import { journalReplacedGrants } from '@rollcall/participants/store/revoked-grants'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { unknownAuthorityMessage } from '../consents/authorities.ts'
import { unknownPurposeMessage } from '../consents/purposes.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { checkTerms } from './check-terms.ts'
import { GRANT_KEY_MEMBERS, GrantResult, shownGrant } from './grants.ts'
import { suspendUngrantedSubscriptions } from './subscriptions.ts'
import { GrantTermsSchema } from './terms.ts'
import { compareGrants } from './widening.ts'

interface SetGrantDeps extends HasDatabase {
  readonly now?: () => Date
}

const SuspendedCount = wholeNumber('Subscriptions that were suspended, because they are not granted any more.')

/**
 * Grants terms to a participant in a registry. They replace all its grants there; with `beside`, its grants of other
 * times stay. Servers apply the terms within a second.
 */
export const setGrant = defineAct(
  {
    name: 'grant set',
    approval: {
      when: 'wider',
      role: 'own',
      async stored({ db, now = () => new Date() }: SetGrantDeps, { sender_id, namespace }) {
        const [participant, registry] = [await requireParticipant(db, sender_id), await requireRegistry(db, namespace)]
        return { grants: await listGrants(db, { participant: participant.id, registry: registry.id }), now: now() }
      },
      compare: compareGrants,
    },
    settings: true,
    input: closed({
      ...GRANT_KEY_MEMBERS,
      terms: GrantTermsSchema,
      beside: Type.Optional(flag('Beside the grants of other times; otherwise in place of all grants in the registry.')),
    }),
    result: closed({ ...GrantResult.properties, suspended: SuspendedCount }),
  },
  async ({ db }: SetGrantDeps, { sender_id, namespace, terms, beside = false }) => {
    const participant = await requireParticipant(db, sender_id)
    const registry = await requireRegistry(db, namespace)
    const checked = checkTerms(registry, terms, ['terms'])
    await checkPurposesAndAuthorities({ db }, checked)
    const add = () => addGrant(db, { participant, registry }, checked, { replace: !beside })
    const added = await (beside ? add() : journalReplacedGrants(db, [participant, registry], add))
    const suspended = await suspendUngrantedSubscriptions(db, participant, registry)
    return { ...shownGrant(added, sender_id, namespace), suspended }
  },
)

/** Checks names in terms. @throws AdminRefusal a purpose is not configured, or an authority is not registered */
async function checkPurposesAndAuthorities({ db }: HasDatabase, terms: GrantTerms) {
  const purposes = new Set((await listPurposes(db)).map(({ code }) => code))
  const authorities = new Set((await listAuthorities(db)).map(({ name }) => name))
  for (const [member, unknown] of [
    ['purposes', unknownPurposeMessage(terms, purposes)],
    ['authorities', unknownAuthorityMessage(terms, authorities)],
  ] as const) {
    if (unknown !== null) throw new AdminRefusal(`terms.${member}: ${unknown}`, { at: ['terms', member] })
  }
}

/** Revokes every grant of a participant in a registry. Every server applies it within a second. */
export const revokeGrant = defineAct(
  {
    name: 'grant revoke',
    approval: 'never',
    settings: true,
    input: closed(GRANT_KEY_MEMBERS),
    result: closed({ ...GRANT_KEY_MEMBERS, revoked: wholeNumber('Grants.'), suspended: SuspendedCount }),
  },
  async ({ db }: HasDatabase, { sender_id, namespace }) => {
    const participant = await requireParticipant(db, sender_id)
    const registry = await requireRegistry(db, namespace)
    const revoked = await journalReplacedGrants(db, [participant, registry], () => revokeGrants(db, { participant, registry }))
    if (revoked === 0) throw new AdminRefusal(`${sender_id} has no grant in ${namespace}`, { reason: 'not_found' })
    return { sender_id, namespace, revoked, suspended: await suspendUngrantedSubscriptions(db, participant, registry) }
  },
)
