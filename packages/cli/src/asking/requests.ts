/** Sends asynchronous requests whose callbacks go to another system, and makes the text of the acknowledgement. */
import { type Accepted, RegistryClient } from '@rollcall/client'
import { callClient, makeClient } from './failures.ts'
import { toPrintableLine } from './printing.ts'
import type { RegistryTarget } from './target.ts'

/** Sends an asynchronous request. Its callbacks go to `sender_uri`, or to the address that the registry has stored. */
export function sendWithoutListening(
  { client }: RegistryTarget,
  { sender_uri, signal }: { readonly sender_uri: string | undefined; readonly signal: AbortSignal },
  send: (asking: RegistryClient) => Promise<Accepted>,
): Promise<Accepted> {
  const options = { ...client, ...(sender_uri !== undefined && { sender_uri }) }
  const asking = makeClient(() => new RegistryClient(options))
  return callClient(send(asking), signal)
}

/** Makes the text of an acknowledgement. @param type the --type for `rollcall status` */
export function ackText({ ack_status, correlation_id }: Accepted, type = 'search'): string {
  const id = toPrintableLine(correlation_id)
  if (ack_status === 'NACK') return `taken, correlation_id ${id}; no callback follows (NACK)`
  const more = type === 'search' ? '' : ` --type ${type}`
  return `accepted, correlation_id ${id}\nrollcall status --correlation-id ${id}${more} shows its state, with the options of this command for the registry and the keys`
}
