/** SQL about exchanges for statements of other packages, so that these statements need not name the tables of exchanges. */

/** SQL for a `from` clause: the correlation_id and received_at of each stored exchange. */
export const EXCHANGES_SQL = '(select correlation_id, received_at from exchange)'

/** SQL for a `from` clause: the correlation_ids of accepted requests that name no address for the answer. */
export const ADDRESSLESS_EXCHANGES_SQL = '(select correlation_id from accepted_exchange where sender_uri is null)'
