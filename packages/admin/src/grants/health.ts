/** Finds what is weak or missing in the grants of a database. */
import type { Participant } from '@rollcall/core/model/participant'
import { isTooWideGrant } from '@rollcall/core/policy/weak-grant'
import type { Database } from '@rollcall/database/database'
import { listGrants, type StoredGrant } from '@rollcall/participants/store/grants'
import { listRegistries } from '@rollcall/records/registries/registries'
import { isoTime } from '../members.ts'

const DAY_MS = 86_400_000
/** Grants that end within this number of days are reported; in the overview also keys, operator tokens and subscriptions. */
export const EXPIRING_DAYS = 30

/**
 * Lists the grants that allow nearly everything (`isTooWideGrant`), those that end within EXPIRING_DAYS, and the participants
 * without a grant. Revoked and ended grants do not count.
 * @param active the active participants
 */
export async function findGrantWeaknesses(db: Database, active: readonly Participant[], now = Date.now()) {
  const namespaces = new Map((await listRegistries(db)).map(({ id, namespace }) => [id, namespace]))
  const held = (await listGrants(db)).flatMap((grant) => {
    const participant = active.find(({ id }) => id === grant.participant)
    const namespace = namespaces.get(grant.registry)
    const hasEnded = grant.valid_until !== null && grant.valid_until.getTime() <= now
    if (participant === undefined || namespace === undefined || hasEnded) return []
    return [{ grant, place: { sender_id: participant.sender_id, namespace } }]
  })
  const until = now + EXPIRING_DAYS * DAY_MS
  const endsSoon = ({ valid_until }: StoredGrant) => valid_until !== null && valid_until.getTime() <= until
  const without = active.filter(({ sender_id }) => !held.some(({ place }) => place.sender_id === sender_id))
  return {
    weak: held.filter(({ grant }) => isTooWideGrant(grant.terms)).map(({ place }) => place),
    expiring: held
      .filter(({ grant }) => endsSoon(grant))
      .map(({ grant, place }) => ({ ...place, valid_until: isoTime(grant.valid_until) ?? '' })),
    without: without.map(({ sender_id }) => ({ sender_id })),
  }
}
