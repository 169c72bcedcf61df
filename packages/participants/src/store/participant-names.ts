/** Participants in statements of other packages: the table is named here alone. */

/** SQL of a relation to join: each participant with its id, sender_id and status. */
export const PARTICIPANTS = '(select id, sender_id, status from participant)'

/**
 * SQL of the id of the participant with a sender_id; null: there is none.
 * @param sender_id SQL: a parameter, or a column with the name of its table
 */
export const participantNamed = (sender_id: string): string =>
  `(select named.id from participant as named where named.sender_id = ${sender_id})`

/**
 * SQL of the sender_id of a participant; null: it does not exist any more.
 * @param id SQL: a parameter, or a column with the name of its table
 */
export const senderIdOf = (id: string): string =>
  `(select named.sender_id from participant as named where named.id = ${id})`
