/** Deliveries in statements of other packages. They read these columns, and the tables are named here alone. */

/** SQL of a relation to join: each delivery with its messages, its participant and how far it has come. */
export const DELIVERIES =
  '(select id, correlation_id, message_id, participant, state, created_at, finished_at from delivery)'

/** SQL of a relation to join: the reference_id of each item of a notification, and the delivery that carries it. */
export const SENT_ITEMS = '(select reference_id, delivery from notification where delivery is not null)'
