/** The steps for the grants of a configuration file. */
import type { Kind, PathStep } from '@rollcall/protocol'
import type { GrantTerms } from '../model/grant.ts'
import type { Registry } from '../model/registry.ts'
import { changeGrants, type StoredGrant, timesOf } from '../store/directory/grants.ts'
import { registryAt } from '../store/registries/registries.ts'
import type { GrantsEntry } from './configuration-file.ts'
import { isSame, refused, type Step } from './configuration-steps.ts'
import { suspendUngranted } from './grant-subscriptions.ts'
import { checkedTerms } from './grant-terms.ts'
import { participantNamed } from './participants.ts'

export interface GrantPlan {
  readonly sender_id: string
  readonly wanted: GrantsEntry
  readonly held: readonly StoredGrant[]
  readonly stored: readonly Registry[]
  readonly kinds: ReadonlyMap<string, Kind>
  readonly at: readonly PathStep[]
}

/** When a grant counts. */
export type GrantTimes = ReturnType<typeof timesOf>

interface Planned {
  readonly steps: readonly Step[]
  /** Of the grants that will be there. */
  readonly times: readonly GrantTimes[]
}

/** @throws AdminRefusal a grant that means nothing in its registry; two at the same time */
export function planGrants(plan: GrantPlan): Planned {
  const { wanted, held, stored } = plan
  const named = Object.keys(wanted)
  const others = stored.filter(
    ({ id, namespace }) => !named.includes(namespace) && held.some((grant) => grant.registry === id),
  )
  const planned = [...named, ...others.map(({ namespace }) => namespace)].map((namespace) =>
    planNamespace(plan, namespace),
  )
  return {
    steps: planned.flatMap(({ steps }) => steps),
    times: planned.flatMap(({ times }) => times),
  }
}

function planNamespace(
  { sender_id, wanted, held, stored, kinds, at }: GrantPlan,
  namespace: string,
): Planned {
  const place = [...at, 'grants', namespace]
  const kind = kinds.get(namespace)
  if (kind === undefined)
    throw refused(place, 'there is no registry at this namespace, and the file has none')
  const registry = stored.find((row) => row.namespace === namespace)
  const there = held.filter((grant) => grant.registry === registry?.id)
  const entry = wanted[namespace] ?? []
  const isList = Array.isArray(entry)
  const rows = [entry].flat().map((terms, index) => {
    const own = isList ? [...place, index] : place
    const same = there.find((grant) => isSame(grant.terms, terms))
    return { at: own, same, terms: same?.terms ?? checkedTerms({ kind }, terms, own) }
  })
  const times = rows.map(({ same, terms }) => same ?? timesOf(terms))
  const overlapping = rows.find((_, index) => times.slice(0, index).some((one) => overlap(one, times[index])))
  if (overlapping !== undefined) {
    throw refused(
      overlapping.at,
      'counts at the same time as the one before; only one grant counts at a time',
    )
  }
  const revoked = there.filter((grant) => !rows.some(({ same }) => same === grant))
  const added = rows.flatMap(({ same, terms }) => (same === undefined ? [terms] : []))
  if (revoked.length + added.length === 0) return { steps: [], times }
  return { steps: [step(sender_id, namespace, { at: place, there, entry, revoked, added })], times }
}

interface NamespaceChange {
  readonly at: readonly PathStep[]
  readonly there: readonly StoredGrant[]
  readonly entry: unknown
  readonly revoked: readonly StoredGrant[]
  readonly added: readonly GrantTerms[]
}

function step(
  sender_id: string,
  namespace: string,
  { at, there, entry, revoked, added }: NamespaceChange,
): Step {
  const from = there.map(({ terms }) => terms)
  const isGone = revoked.length === there.length && added.length === 0
  return {
    at,
    change: there.length === 0 ? 'add' : isGone ? 'remove' : 'change',
    from: from.length > 1 ? from : (from[0] ?? null),
    to: isGone ? null : entry,
    async make({ db }) {
      const participant = await participantNamed(db, sender_id)
      const registry = await registryAt(db, namespace)
      await changeGrants(db, { participant, registry }, { revoke: revoked.map(({ id }) => id), add: added })
      await suspendUngranted(db, participant, registry)
    },
  }
}

const endOf = ({ valid_until }: GrantTimes): number => valid_until?.getTime() ?? Number.POSITIVE_INFINITY

const overlap = (one: GrantTimes, other: GrantTimes | undefined): boolean =>
  other !== undefined && one.valid_from.getTime() < endOf(other) && other.valid_from.getTime() < endOf(one)
