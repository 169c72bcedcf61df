/** Which message a text must be, by a name that travels between threads. */
import { CALLBACKS, type Callback, type Message, type Operation, operation } from '@rollcall/protocol'

/** A row of OPERATIONS, whose request it is, or of CALLBACKS. */
export interface RowName {
  readonly table: 'operation' | 'callback'
  readonly name: string
}

export const nameOf = (row: Operation | Callback): RowName => ({
  table: 'request' in row ? 'operation' : 'callback',
  name: row.name,
})

/** What is received by the row. */
export const messageOf = (row: Operation | Callback): Message =>
  'request' in row ? row.request : row.message

/** @throws RangeError: names come from code, never from a peer */
export function rowNamed({ table, name }: RowName): Operation | Callback {
  if (table === 'operation') return operation(name)
  const found = CALLBACKS.find((row) => row.name === name)
  if (found === undefined) throw new RangeError(`there is no callback ${name}`)
  return found
}
