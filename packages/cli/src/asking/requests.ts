/** Asynchronous requests whose callbacks go elsewhere: sends them and prints the ack. */
import { type Accepted, RegistryClient } from '@rollcall/client'
import { callClient, makeClient } from './failures.ts'
import { printable } from './printing.ts'
import type { Target } from './target.ts'

/** Sends a request; the result goes to `sender_uri`, or to the address that the registry has on file. */
export function askLater(
  { client }: Target,
  { sender_uri, signal }: { readonly sender_uri: string | undefined; readonly signal: AbortSignal },
  send: (asking: RegistryClient) => Promise<Accepted>,
): Promise<Accepted> {
  const options = { ...client, ...(sender_uri !== undefined && { sender_uri }) }
  const asking = makeClient(() => new RegistryClient(options))
  return callClient(send(asking), signal)
}

/** @param type of `rollcall status` */
export function ackText({ ack_status, correlation_id }: Accepted, type = 'search'): string {
  const id = printable(correlation_id)
  if (ack_status === 'NACK') return `taken, correlation_id ${id}; no callback follows (NACK)`
  const more = type === 'search' ? '' : ` --type ${type}`
  return `accepted, correlation_id ${id}\nrollcall status --correlation-id ${id}${more} shows its state, with the options of this command for the registry and the keys`
}
