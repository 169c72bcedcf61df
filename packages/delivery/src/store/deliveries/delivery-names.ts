/** SQL of deliveries for statements of other packages, which read these columns and name no table. */

/** SQL of a relation to join: each delivery with its messages, its participant and how far it has come. */
export const DELIVERIES =
  '(select id, correlation_id, message_id, participant, state, created_at, finished_at from delivery)'

/** SQL of a relation to join: the reference_id of each item of a notification, and the delivery that carries it. */
export const SENT_ITEMS = '(select reference_id, delivery from notification where delivery is not null)'
