/** SQL about participants for the statements of other packages, which then need not name the table `participant`. */

/** SQL for a `from` clause: each participant with its id, sender_id and status. */
export const PARTICIPANTS_SQL = '(select id, sender_id, status from participant)'

/**
 * SQL for the id of the participant with a sender_id; null when there is none.
 * @param sender_id SQL: a parameter, or a column with the name of its table
 */
export const participantIdSql = (sender_id: string): string =>
  `(select named.id from participant as named where named.sender_id = ${sender_id})`

/**
 * SQL for the sender_id of the participant with an id; null when there is none.
 * @param id SQL: a parameter, or a column with the name of its table
 */
export const senderIdSql = (id: string): string => `(select named.sender_id from participant as named where named.id = ${id})`
