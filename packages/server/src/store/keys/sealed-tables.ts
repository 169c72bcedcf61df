/** Where sealed values are kept. What is not in these rows would be lost with the master key it was sealed with. */

export interface SealedTable {
  readonly table: string
  /** The primary key; together with the table it is the place a value is bound to. */
  readonly id: string
  /** What the values are for; each purpose has a key of its own under the master key. */
  readonly purpose: string
}

/** Every table with a column `sealed`. */
export const SEALED = {
  own_key: { table: 'own_key', id: 'kid', purpose: 'own key' },
  participant_callback: { table: 'participant_callback', id: 'participant', purpose: 'callback credentials' },
  body_key: { table: 'body_key', id: 'day', purpose: 'body key' },
} as const satisfies Record<string, SealedTable>
