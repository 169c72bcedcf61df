/** The acknowledgement of what is persisted, and is answered later or needs no answer (spec "Responses" 2, N11). */
import { canonicalJson, type HeaderRejection, RequestFault } from '@rollcall/protocol'
import type { Reply } from './reply.ts'

/** Sent only after what it acknowledges is committed. */
export function acknowledgement(correlation_id: string): Reply {
  const timestamp = new Date().toISOString()
  return {
    correlation_id,
    text: canonicalJson({ message: { ack_status: 'ACK', timestamp, correlation_id } }),
  }
}

/** A rejected header where the answer is an ack: ERR with a code of the list of acks, and the other code in the text (N20). */
export function refusalOf({ code, message }: HeaderRejection): RequestFault {
  if (code === 'rjct.version.invalid') return new RequestFault('err.version.not_supported', message)
  return new RequestFault('err.request.bad', `${code}: ${message}`)
}
