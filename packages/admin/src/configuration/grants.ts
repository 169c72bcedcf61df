/** The steps for the grants of a configuration file. */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import type { Environment } from '@rollcall/core/model/environment'
import type { GrantTerms } from '@rollcall/core/model/grant'
import type { Registry } from '@rollcall/core/model/registry'
import {
  changeGrants,
  grantEnvironmentProblem,
  requireGrantPeriod,
  type StoredGrant,
  uncheckedGrantPeriod,
} from '@rollcall/participants/store/grants'
import { journalRevokedGrants } from '@rollcall/participants/store/revoked-grants'
import { type Kind, pathText } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { AdminRefusal } from '../admin-function.ts'
import { isSameJson } from '../approvals/diff-lines.ts'
import { unknownAuthorityMessage } from '../consents/authorities.ts'
import { isPurposeInGrant, unknownPurposeMessage } from '../consents/purposes.ts'
import { checkTerms, grantProblemIn } from '../grants/check-terms.ts'
import { suspendUngrantedSubscriptions } from '../grants/subscriptions.ts'
import { isExpiredGrant } from '../grants/terms.ts'
import { requireParticipant } from '../participants/participants.ts'
import type { GrantsEntry } from './file.ts'
import type { PlannedGrant } from './lockout.ts'
import type { StoredParticipant } from './read.ts'
import { type ConfigStep, type FilePlace, refusalAt } from './steps.ts'

/** The registries, purposes and consent authorities that a grant may name once the file is applied. */
export interface NamesForGrants {
  /** The kinds of registries, by namespace. */
  readonly kinds: ReadonlyMap<string, Kind>
  /** The environments of registries, by namespace. */
  readonly environments: ReadonlyMap<string, Environment>
  /** The codes of purposes. */
  readonly purposes: ReadonlySet<string>
  /** Names of consent authorities. */
  readonly authorities: ReadonlySet<string>
}

export interface GrantsToPlan {
  readonly sender_id: string
  /** The environment of the participant. */
  readonly environment: Environment
  readonly wanted: GrantsEntry
  readonly held: readonly StoredGrant[]
  readonly stored: readonly Registry[]
  readonly known: NamesForGrants
  readonly at: FilePlace
}

interface GrantSteps {
  readonly steps: readonly ConfigStep[]
  /** The grants of the participant after the file is applied. */
  readonly grants: readonly PlannedGrant[]
}

/**
 * Plans the steps for the grants of one participant of a file.
 * @throws AdminRefusal a grant cannot be used in its registry, or two are in force together
 */
export function planGrants(plan: GrantsToPlan): GrantSteps {
  const { wanted, held, stored } = plan
  const named = Object.keys(wanted)
  const others = stored.filter(({ id, namespace }) => !named.includes(namespace) && held.some((grant) => grant.registry === id))
  const planned = [...named, ...others.map(({ namespace }) => namespace)].map((namespace) =>
    planGrantsOfNamespace(plan, namespace),
  )
  return { steps: planned.flatMap(({ steps }) => steps), grants: planned.flatMap(({ grants }) => grants) }
}

function planGrantsOfNamespace(
  { sender_id, environment, wanted, held, stored, known, at }: GrantsToPlan,
  namespace: string,
): GrantSteps {
  const place = [...at, 'grants', namespace]
  const kind = known.kinds.get(namespace)
  if (kind === undefined)
    throw refusalAt(
      place,
      `there is no registry at this namespace, and the file has none${nearestNameHint(namespace, known.kinds.keys())}`,
    )
  const registryEnvironment = known.environments.get(namespace)
  if (wanted[namespace] !== undefined && registryEnvironment !== undefined) {
    const problem = grantEnvironmentProblem(environment, { namespace, environment: registryEnvironment })
    if (problem !== null) throw refusalAt(place, problem)
  }
  const registry = stored.find((row) => row.namespace === namespace)
  const there = held.filter((grant) => grant.registry === registry?.id)
  const entry = wanted[namespace] ?? []
  const isList = Array.isArray(entry)
  const rows = [entry].flat().flatMap((terms, index) => {
    const own = isList ? [...place, index] : place
    const same = there.find((grant) => isSameJson(grant.terms, terms))
    // A grant that has ended is not added. An export has ended grants, whose attributes and purposes may be gone.
    if (same === undefined && isExpiredGrant(uncheckedGrantPeriod(terms))) return []
    if (same !== undefined) checkStoredGrantFitsKind(kind, same, own)
    if (same === undefined || !isExpiredGrant(same)) checkPurposesAndAuthorities(terms, known, own)
    return [{ at: own, same, terms: same?.terms ?? checkTerms({ kind }, terms, own) }]
  })
  const grants = rows.map(({ same, terms }) => same ?? { terms, ...requireGrantPeriod(terms) })
  const overlapping = rows.find((_, index) => grants.slice(0, index).some((one) => isOverlapping(one, grants[index])))
  if (overlapping !== undefined) {
    throw refusalAt(overlapping.at, 'counts at the same time as the one before; only one grant counts at a time')
  }
  const revoked = there.filter((grant) => !rows.some(({ same }) => same === grant))
  const added = rows.flatMap(({ same, terms }) => (same === undefined ? [terms] : []))
  if (revoked.length + added.length === 0) return { steps: [], grants }
  return { steps: [grantStep(sender_id, namespace, { at: place, there, entry, revoked, added })], grants }
}

/** Checks that purposes and authorities of a grant will exist. @throws AdminRefusal one will not */
function checkPurposesAndAuthorities(terms: GrantTerms, known: NamesForGrants, at: FilePlace): void {
  const purpose = unknownPurposeMessage(terms, known.purposes)
  if (purpose !== null) throw refusalAt([...at, 'purposes'], purpose)
  const authority = unknownAuthorityMessage(terms, known.authorities)
  if (authority !== null) throw refusalAt([...at, 'authorities'], authority)
}

/** Checks a stored grant that the file leaves as it is. @throws AdminRefusal it is not valid in the changed registry */
function checkStoredGrantFitsKind(kind: Kind, grant: StoredGrant, at: FilePlace): void {
  const problem = isExpiredGrant(grant) ? null : grantProblemIn(kind, grant.terms)
  if (problem === null) return
  const member = [...at, ...problem.member.split('.')]
  throw new AdminRefusal(`${pathText(at)}.${problem.message}`, { cause: problem, at: member })
}

/**
 * Checks the grants of a participant whose grants the file does not name.
 * @throws AdminRefusal the file removes something, such as an attribute or a purpose, that an unexpired grant names
 */
export function checkUnlistedGrants(
  { participant: { sender_id }, grants }: StoredParticipant,
  stored: readonly Registry[],
  { kinds, purposes }: NamesForGrants,
): void {
  for (const grant of grants) {
    const lost = (grant.terms.purposes ?? []).find((code) => !purposes.has(code) && isPurposeInGrant(grant, code))
    if (lost !== undefined) {
      throw refusalAt(['purposes'], `a grant of ${sender_id} names ${lost}; change it in the same file`)
    }
    const registry = stored.find(({ id }) => id === grant.registry)
    const kind = registry && kinds.get(registry.namespace)
    if (registry === undefined || kind === undefined || kind === registry.kind || isExpiredGrant(grant)) continue
    const problem = grantProblemIn(kind, grant.terms)
    if (problem === null || grantProblemIn(registry.kind, grant.terms) !== null) continue
    throw refusalAt(
      ['registries', registry.namespace, problem.member === 'identifier_types' ? problem.member : 'attributes'],
      `the grant of ${sender_id} would mean nothing (${problem.message}); change it in the same file`,
    )
  }
}

interface GrantStepInput {
  readonly at: FilePlace
  readonly there: readonly StoredGrant[]
  readonly entry: unknown
  readonly revoked: readonly StoredGrant[]
  readonly added: readonly GrantTerms[]
}

function grantStep(sender_id: string, namespace: string, { at, there, entry, revoked, added }: GrantStepInput): ConfigStep {
  const from = there.map(({ terms }) => terms)
  const isGone = revoked.length === there.length && added.length === 0
  return {
    at,
    change: there.length === 0 ? 'add' : isGone ? 'remove' : 'change',
    from: from.length > 1 ? from : (from[0] ?? null),
    to: isGone ? null : entry,
    act: isGone ? 'grant revoke' : 'grant set',
    registry: namespace,
    async make({ db }) {
      const participant = await requireParticipant(db, sender_id)
      const registry = await requireRegistry(db, namespace)
      const revoke = revoked.map(({ id }) => id)
      await journalRevokedGrants(db, [participant, registry], revoke, () =>
        changeGrants(db, { participant, registry }, { revoke, add: added }),
      )
      await suspendUngrantedSubscriptions(db, participant, registry)
    },
  }
}

const grantEndMs = ({ valid_until }: PlannedGrant): number => valid_until?.getTime() ?? Number.POSITIVE_INFINITY

const isOverlapping = (one: PlannedGrant, other: PlannedGrant | undefined): boolean =>
  other !== undefined && one.valid_from.getTime() < grantEndMs(other) && other.valid_from.getTime() < grantEndMs(one)
