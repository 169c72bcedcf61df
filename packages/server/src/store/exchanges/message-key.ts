/** A message_id as a key: the specification gives it no greatest length, an index does. */
import { hash } from 'node:crypto'

const LONGEST = 255

/** The message_id itself, or where it is longer than 255 characters `sha256:` and its digest. */
export function messageKey(message_id: string): string {
  return message_id.length <= LONGEST ? message_id : `sha256:${hash('sha256', message_id, 'hex')}`
}
