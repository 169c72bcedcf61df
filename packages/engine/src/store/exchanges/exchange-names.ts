/** Exchanges in statements of other packages. They read these columns, and the table is named here alone. */

/** SQL of a relation for joins: the correlation_id and received_at of each remembered exchange. */
export const EXCHANGES = '(select correlation_id, received_at from exchange)'

/** SQL of a relation: the correlation_ids of accepted requests without an address for the answer. */
export const ADDRESSLESS = '(select correlation_id from accepted_exchange where sender_uri is null)'
