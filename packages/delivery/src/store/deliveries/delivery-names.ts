/** SQL about deliveries for statements of other packages, so that these need not name the tables. */

/** SQL for a `from` clause: each delivery with its ids, participant, state and times. */
export const DELIVERIES_SQL = '(select id, correlation_id, message_id, participant, state, created_at, finished_at from delivery)'

/** SQL for a `from` clause: the reference_id of each notification's item, and the id of the delivery that contains the item. */
export const ENVELOPE_ITEMS_SQL = '(select reference_id, delivery from notification where delivery is not null)'
