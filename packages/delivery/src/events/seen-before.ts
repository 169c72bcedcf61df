/** Judges the state before a change as subscribers see it: for a subscriber a record that its grant hid was not there. */

import type { Grant } from '@rollcall/core/model/grant'
import type { Protection } from '@rollcall/core/model/protection'
import { readStoredGrant } from '@rollcall/core/policy/grant'
import { grantWithHiddenPersons } from '@rollcall/core/policy/hidden'
import { matches } from '@rollcall/core/query/memory/matches'
import { dayIn } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import { findRecordLimitedSubscribers } from '../store/events/subscriber-hiding.ts'
import type { SubscriptionMatch } from './match.ts'
import type { DraftEvent, RecordingDeps } from './recording.ts'

/** Finds the matches of which their subscribers may learn. */
export type SubscriberVisibleMatchFinder = (
  found: readonly SubscriptionMatch[],
  eventOf: (match: SubscriptionMatch) => DraftEvent | undefined,
) => Promise<readonly SubscriptionMatch[]>

/**
 * The matches as their subscribers may know of them. Where the grant did not show the record before the change, `stayed` becomes
 * `entered`, and a match with `left` is removed: `left` would reveal that the hidden record had fulfilled the filter.
 * @param eventOf returns the event of a match
 */
export async function matchesAsSeenBySubscribers(
  client: ClientBase,
  { registry, now }: Pick<RecordingDeps, 'registry' | 'now'>,
  protection: Protection,
  found: readonly SubscriptionMatch[],
  eventOf: (match: SubscriptionMatch) => DraftEvent | undefined,
): Promise<readonly SubscriptionMatch[]> {
  const fromBefore = found.filter(({ presence }) => presence !== 'entered')
  if (fromBefore.length === 0) return found
  const limited = await findRecordLimitedSubscribers(client, [...new Set(fromBefore.map(({ subscription }) => subscription))])
  if (limited.length === 0) return found
  const day = dayIn(registry.time_zone, now.getTime())
  const grants = new Map<number, Grant | null>()
  for (const { participant, terms } of limited) {
    if (grants.has(participant)) continue
    const grant = readStoredGrant(registry.kind, { id: participant, terms })
    grants.set(participant, grant && grantWithHiddenPersons(grant, registry, protection, day))
  }
  const participants = new Map(limited.map(({ subscription, participant }) => [subscription, participant]))
  const isSeen = ({ recordType, before }: DraftEvent, participant: number): boolean => {
    const grant = grants.get(participant)
    if (!grant) return false
    const row = grant.rows.get(recordType.name)
    return row === undefined || before === null || matches(row, before.extracted)
  }
  return found.flatMap((match): readonly SubscriptionMatch[] => {
    const participant = participants.get(match.subscription)
    const event = eventOf(match)
    if (match.presence === 'entered' || participant === undefined || event === undefined) return [match]
    if (isSeen(event, participant)) return [match]
    return match.presence === 'left' ? [] : [{ ...match, presence: 'entered' }]
  })
}
