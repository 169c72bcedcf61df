/** A participant as a whole: its agreements, its settings and its use. Secrets are never shown. */

import type { Limits } from '@rollcall/core/limits'
import { COUNTED_QUANTITIES, dailyLimitOf } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { countSubscriptionsByState } from '@rollcall/delivery/store/events/subscription-list'
import { findLastRequestTime } from '@rollcall/engine/store/exchanges/seen-requests'
import { ACCEPTED_DAY, INBOX_DAY, readDayStorageUse } from '@rollcall/participants/store/day-counts'
import { listGrants as listGrantRows } from '@rollcall/participants/store/grants'
import { listChecks } from '@rollcall/participants/store/participant-checks'
import { listClientSecretPeriods, listQuotaUseToday } from '@rollcall/participants/store/participant-facts'
import { listEvidenceKeys } from '@rollcall/participants/store/published-keys'
import { oneOf } from '@rollcall/protocol'
import { listRegistries } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAdminFunction } from '../admin-function.ts'
import { ShownCallbackSettings, showCallbackSettings } from '../callbacks/callbacks.ts'
import type { HasDatabase } from '../deps.ts'
import { GrantResult, isInForce, listGrants } from '../grants/grants.ts'
import { closed, flag, instant, isoTime, limitJson, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { CHECK_REPORT, shownCheckReport } from './check.ts'
import { KeyResult, listParticipantKeys } from './keys.ts'
import { ParticipantResult, requireParticipant, shownParticipant } from './participants.ts'
import { HostsResult, MessagePolicyResult, messagePolicyOf } from './policy.ts'
import { MaxSubscriptions } from './subscriptions.ts'

/** The most reports of checks that are shown. */
const MOST_CHECKS = 5

type DayLimits = Pick<Limits, 'inbox_messages' | 'inbox_bytes' | 'accepted_requests' | 'accepted_bytes'>

export interface HasDayLimits extends HasDatabase {
  readonly limits: DayLimits
}

const DAILY_USE_SCHEMA = closed({
  messages: wholeNumber('Today (UTC).'),
  most_messages: wholeNumber('In a day.'),
  bytes: wholeNumber('As they are stored, today (UTC).'),
  most_bytes: wholeNumber('In a day.'),
})

/** Shows a participant: all that an operator decides about it, and the newest reports of its checks. */
export const showParticipant = defineAdminFunction(
  {
    input: closed({ sender_id: SenderId }),
    result: closed({
      ...ParticipantResult.properties,
      max_subscriptions: MaxSubscriptions,
      last_seen: orNull(instant('When its newest message was received; null: none is remembered (ROLLCALL_EXCHANGE_RETENTION).')),
      policy: MessagePolicyResult,
      hosts: HostsResult,
      callback: ShownCallbackSettings,
      keys: Type.Array(KeyResult, { description: 'Keys that were registered, the newest first.' }),
      published_keys: Type.Array(
        closed({
          kid: text('kid of the key in messages.'),
          first_used_at: instant('When a message was first verified with it.'),
          last_used_at: instant('When a message was last verified with it, to the hour.'),
        }),
        {
          description:
            'Keys of its jwks_uri that have verified messages. Its address alone says whether they are still published.',
        },
      ),
      secrets: Type.Array(
        closed({
          created_at: instant('When it was made.'),
          live: flag('False: a later rotation has retired it.'),
          retired_at: orNull(instant('When it was retired.')),
        }),
        { description: 'Its client secrets, the newest first, without their values.' },
      ),
      grants: Type.Array(GrantResult, { description: 'Those that are not revoked, past and future ones included.' }),
      quotas: Type.Array(
        closed({
          namespace: Namespace,
          counted: oneOf(COUNTED_QUANTITIES, { description: 'What the grant in force counts by the day (UTC).' }),
          used: wholeNumber('Today.'),
          most: wholeNumber('In a day.'),
        }),
        { description: 'Only what a grant in force limits.' },
      ),
      accepted_today: { ...DAILY_USE_SCHEMA, description: 'Requests that are answered later.' },
      callbacks_today: { ...DAILY_USE_SCHEMA, description: 'Callbacks of its own.' },
      subscriptions: closed({
        live: wholeNumber('Those that match events.'),
        suspended: wholeNumber('Those that wait for an operator.'),
      }),
      checks: Type.Array(closed(CHECK_REPORT), { description: 'The newest reports of its checks, the newest first.' }),
    }),
  },
  async ({ db, limits }: HasDayLimits, { sender_id }) => {
    const participant = await requireParticipant(db, sender_id)
    const seen = await findLastRequestTime(db, participant)
    const { accepted_requests, accepted_bytes, inbox_messages, inbox_bytes } = limits
    const dayOf = async (table: Parameters<typeof readDayStorageUse>[1], most_messages: number, most_bytes: number) => {
      const { messages, bytes } = await readDayStorageUse(db, table, participant.id)
      return { messages, most_messages, bytes, most_bytes }
    }
    return {
      ...shownParticipant(participant),
      max_subscriptions: limitJson(participant.max_subscriptions),
      last_seen: isoTime(seen),
      policy: messagePolicyOf(participant),
      hosts: participant.outgoing,
      callback: await showCallbackSettings({ db }, participant),
      keys: await listParticipantKeys({ db }, { sender_id }),
      published_keys: (await listEvidenceKeys(db, sender_id)).map(({ kid, first_used_at, last_used_at }) => ({
        kid,
        first_used_at: isoTime(first_used_at),
        last_used_at: isoTime(last_used_at),
      })),
      secrets: (await listClientSecretPeriods(db, participant)).map(({ created_at, retired_at }) => ({
        created_at: isoTime(created_at),
        live: retired_at === null,
        retired_at: isoTime(retired_at),
      })),
      grants: await listGrants({ db }, { sender_id }),
      quotas: await readDayQuotas(db, participant),
      accepted_today: await dayOf(ACCEPTED_DAY, accepted_requests, accepted_bytes),
      callbacks_today: await dayOf(INBOX_DAY, inbox_messages, inbox_bytes),
      subscriptions: await countSubscriptionsByState(db, participant),
      checks: (await listChecks(db, participant, MOST_CHECKS)).map(shownCheckReport),
    }
  },
)

/** Reads the daily quotas of the grants in force, and how much of each is used today. */
async function readDayQuotas(db: Database, participant: Participant, now = new Date()) {
  const names = new Map((await listRegistries(db)).map(({ id, namespace }) => [id, namespace]))
  const used = await listQuotaUseToday(db, participant)
  const grants = await listGrantRows(db, { participant: participant.id })
  return grants
    .filter((grant) => isInForce(grant, now))
    .flatMap(({ registry, terms }) =>
      COUNTED_QUANTITIES.flatMap((counted) => {
        const namespace = names.get(registry)
        const most = dailyLimitOf(terms, counted)
        if (namespace === undefined || most === undefined) return []
        const row = used.find((one) => one.registry === registry && one.counted === counted)
        return [{ namespace, counted, used: row?.used ?? 0, most }]
      }),
    )
}
