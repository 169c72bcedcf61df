/** Collects all that a participant gets for a request, and masks the parts that differ each time. */
import { type AsyncPeer, answerExchange, callbacksTo, deliverAll } from './asynchronous.ts'
import type { Answer, TestServer } from './server.ts'

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape are compared
export type Got = any

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** Returns the answer to a request and, if the request was accepted, the callbacks that answer it. */
export async function gotten(server: TestServer, { receiver }: Pick<AsyncPeer, 'receiver'>, sent: Promise<Answer>): Promise<Got> {
  const { status, headers, body } = await sent
  const correlation_id = body?.message?.correlation_id
  // The acknowledgement of a callback has the sender's own correlation_id.
  const isAccepted = body?.message?.ack_status === 'ACK' && UUID.test(correlation_id)
  if (isAccepted) {
    await answerExchange(server, correlation_id)
    await deliverAll(server)
  }
  const callbacks = callbacksTo(receiver).filter(
    ({ envelope }) => isAccepted && envelope.message.correlation_id === correlation_id,
  )
  const { date: _, ...shown } = Object.fromEntries(headers)
  return { status, headers: shown, body, callbacks }
}

const withoutSignature = (name: string, value: unknown) => (name === 'signature' ? 'SIGNED' : value)

/** Writes an answer without ids, times, codes and signatures. */
export const masked = (got: Got): string =>
  JSON.stringify(got, withoutSignature, 1)
    .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/SUB-[\w-]+/g, 'CODE')
