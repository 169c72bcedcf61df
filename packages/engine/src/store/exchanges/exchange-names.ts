/** Exchanges in statements of other packages. They read these columns, and the table is named here alone. */

/** SQL of a relation to join: each exchange that is remembered, with its correlation_id and received_at. */
export const EXCHANGES = '(select correlation_id, received_at from exchange)'

/** SQL of a relation: the correlation_id of each accepted request that names no address for its answer. */
export const ADDRESSLESS = '(select correlation_id from accepted_exchange where sender_uri is null)'
