/**
 * From whom and for whom a result is, where a registry repeats the header of the request: we are its `sender_id` then,
 * and the registry is its `receiver_id` (3.1). Such a header is brought into the spelling of an answer before it is checked.
 *
 * A header that was turned names us and this registry, as one that never was. That the registry wrote it is for the signature
 * to say: a request of ours, or an answer of ours to that registry, has the same two addresses, but not its signature.
 */
import type { JsonObject } from '@rollcall/protocol'

/** Whether the header has the addresses of a request from one of us to this registry. */
export function repeatsAddresses(
  { sender_id, receiver_id }: JsonObject,
  ourselves: readonly string[],
  registry: string | undefined,
): boolean {
  return typeof sender_id === 'string' && ourselves.includes(sender_id) && receiver_id === registry
}

/** The header with its addresses in the order of an answer. */
export function turned(header: JsonObject): JsonObject {
  const { sender_id, receiver_id, ...rest } = header
  return {
    ...rest,
    ...(receiver_id !== undefined && { sender_id: receiver_id }),
    ...(sender_id !== undefined && { receiver_id: sender_id }),
  }
}
