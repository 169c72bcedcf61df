/** When the default address of a participant changes, pending deliveries to that address get the new one. */
import { defaultCallbackAddress, NOTIFY_ADDRESSES_SQL } from '@rollcall/participants/store/participant-callbacks'
import { CALLBACKS } from '@rollcall/protocol'

/**
 * Makes the statement that gives the new default address to pending deliveries for which no other address is set: their request,
 * or the subscriptions of their mailbox, named none. A delivery that is being attempted is not changed: its next attempt
 * determines the address anew.
 * @param addressless SQL for a `from` clause: the correlation_id of each accepted request that names no address for its answer
 */
export const makeAddressChangeStatement = (
  participant: number,
  { default_url, addressless }: { readonly default_url: string; readonly addressless: string },
): { readonly text: string; readonly values: readonly unknown[] } => ({
  text: `with moving as (
      select id, moved.target
      from delivery join unnest($1::text[], $2::text[]) as moved (callback, target)
        on moved.callback = delivery.callback collate "C"
      where participant = $3 and state = 'pending' and delivery.target is distinct from moved.target
        and (claimed_until is null or claimed_until <= now())
        and (correlation_id is null or exists (select 1 from ${addressless} as asked
          where asked.correlation_id = delivery.correlation_id))
        and (mailbox is null or exists (select 1 from mailbox as own
          join ${NOTIFY_ADDRESSES_SQL} as callbacks using (participant)
          where own.id = delivery.mailbox and own.sender_uri = '' and notify_url is null))
      for update of delivery skip locked
    )
    update delivery set target = moving.target from moving where delivery.id = moving.id`,
  values: [
    CALLBACKS.map(({ name }) => name),
    CALLBACKS.map((callback) => defaultCallbackAddress(default_url, callback)),
    participant,
  ],
})
