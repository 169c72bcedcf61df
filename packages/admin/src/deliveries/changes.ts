/** Retries, replays and cancels deliveries over the admin API: with a preview, and up to a limit for each call. */

import type { Limits } from '@rollcall/core/limits'
import {
  changeDeliveriesAtMost,
  countDeliveryChange,
  type DeliveryChangeCounts,
} from '@rollcall/delivery/store/deliveries/delivery-changes'
import Type from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, SenderId, wholeNumber } from '../members.ts'
import {
  changeableStates,
  countReplay,
  DELIVERY_FILTER_MEMBERS,
  type DeliveryChange,
  deliveryCountRefusal,
  OR_RECORD_DELETED_TEXT,
  readDeliveryFilter,
  replayToApprove,
  sumCounts,
} from './deliveries.ts'

export interface HasDeliveryChangeLimit extends HasDatabase {
  readonly limits: Pick<Limits, 'changed_deliveries'> & Partial<Pick<Limits, 'replay_deliveries'>>
}

/** The most participants that an answer names. */
const MOST_SENDER_IDS = 100

function defineDeliveryAct(change: DeliveryChange, name: string) {
  return defineAct(
    {
      name,
      approval:
        change === 'replay'
          ? {
              when: 'wider',
              role: 'operate',
              stored: (deps: HasDeliveryChangeLimit, { dry_run: _, ...given }) => countReplay(deps, change, given),
              compare: ({ dry_run = false, ...given }, counted) => (dry_run ? null : replayToApprove(given, counted)),
            }
          : 'never',
      input: closed({
        ...DELIVERY_FILTER_MEMBERS,
        ids: Type.Optional(Type.Array(Type.String(), { minItems: 1, maxItems: 1_000, description: 'ids of the deliveries.' })),
        dry_run: Type.Optional(flag('Only say what would be changed.')),
      }),
      result: closed({
        dry_run: flag('Whether nothing was changed.'),
        deliveries: wholeNumber('Deliveries that were changed, or would be.'),
        participants: Type.Array(closed({ participant: SenderId, deliveries: wholeNumber('Of this participant.') }), {
          description: `Whose they were before the change; the ${MOST_SENDER_IDS} with the most.`,
        }),
        in_closed_mailboxes: wholeNumber(
          'Notifications that are left as they are, because their mailbox is closed: resume a subscription of it first.',
        ),
      }),
    },
    async ({ db, limits, approvals, caller }: HasDeliveryChangeLimit & BaseActDeps, { ids, dry_run = false, ...given }) => {
      if (Object.keys(given).length === 0 && ids === undefined) {
        throw new AdminRefusal('name the deliveries: by ids, participant, namespace, origin, since, until or state')
      }
      const choice = { ...(await readDeliveryFilter(db, given)), ...(ids !== undefined && { ids }) }
      const counted = await countDeliveryChange(db, change, choice)
      const found = sumCounts(counted, 'deliveries')
      // Where acts need two operators, one operator alone may replay at most `replay_deliveries`.
      const { changed_deliveries, replay_deliveries = changed_deliveries } = limits
      const isAlone = change === 'replay' && approvals.areNeeded && caller.kind !== 'proposal'
      const most = isAlone ? Math.min(changed_deliveries, replay_deliveries) : changed_deliveries
      if (!dry_run && found > most) throw deliveryCountRefusal(found, most)
      if (!dry_run && found === 0) {
        throw new AdminRefusal(noneChangedText(change, counted), { reason: 'conflict' })
      }
      // More deliveries may be changeable now than were counted. If they are more than `most`, none is changed.
      const { chosen, changed } = dry_run ? { chosen: 0, changed: found } : await changeDeliveriesAtMost(db, change, choice, most)
      if (chosen > most) throw deliveryCountRefusal(chosen, most)
      return {
        dry_run,
        deliveries: changed,
        participants: counted
          .filter(({ deliveries }) => deliveries > 0)
          .slice(0, MOST_SENDER_IDS)
          .map(({ participant, deliveries }) => ({ participant, deliveries })),
        in_closed_mailboxes: sumCounts(counted, 'in_closed_mailboxes'),
      }
    },
  )
}

const noneChangedText = (change: DeliveryChange, counted: readonly DeliveryChangeCounts[]): string =>
  sumCounts(counted, 'in_closed_mailboxes') > 0
    ? 'their mailboxes are closed; resume a subscription of each mailbox first'
    : `only deliveries that are ${changeableStates(change).join(' or ')} can be changed so; none of these is${change === 'replay' ? OR_RECORD_DELETED_TEXT : ''}`

/** Makes waiting deliveries and dead letters due: nodes attempt them now. */
export const retryDeliveries = defineDeliveryAct('retry', 'deliveries retry')
/** Makes deliveries due that have ended or are held: nodes send them again. */
export const replayDeliveries = defineDeliveryAct('replay', 'deliveries replay')
/** Cancels deliveries: they are not attempted any more. */
export const cancelDeliveries = defineDeliveryAct('drop', 'deliveries cancel')
