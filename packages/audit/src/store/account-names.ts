/** Accounts in statements of other packages. They read these columns, and the table is named here alone. */

/** SQL of a relation to join: each entry with the message_id of its request. */
export const ACCOUNTS = '(select message_id, entry from account)'
