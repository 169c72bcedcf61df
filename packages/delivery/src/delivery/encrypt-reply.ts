/** A reply is encrypted at rest before its first attempt. */
import { hash } from 'node:crypto'
import { deliveryEncryptionContext, type EncryptedReply } from '@rollcall/core/model/delivery'
import type { ReplyMembers } from '@rollcall/core/model/outcome'
import { withTraceparent } from '@rollcall/core/model/traceparent'
import type { Bodies } from '@rollcall/keys/bodies'
import { CanonicalText, canonicalJson } from '@rollcall/protocol'

/**
 * The only function that makes an `EncryptedReply`: a reply or a notification, whose records are disclosed.
 * @param id id of the delivery
 * @param traceparent traceparent of the answered request: stored with the reply, and not signed
 * @returns header and message as they are signed
 */
export async function encryptReply(
  { bodies }: { readonly bodies: Pick<Bodies, 'encryptBody'> },
  id: string,
  header: object,
  members: ReplyMembers,
  traceparent: string | null = null,
): Promise<WrittenReply> {
  const written = writtenOnce(header)
  const message = new CanonicalText(canonicalJson(members))
  const text = canonicalJson({ header: written, message })
  const body: Uint8Array = await bodies.encryptBody(withTraceparent(text, traceparent), deliveryEncryptionContext(id))
  return { header: written, message, body: body as EncryptedReply, digest: hash('sha256', text) }
}

interface WrittenReply {
  readonly header: object
  readonly message: CanonicalText
  readonly body: EncryptedReply
  /**
   * SHA-256 of header and message in clear, in hexadecimal. The bytes that are sent differ: each attempt signs and
   * encrypts anew.
   */
  readonly digest: string
}

/** The header with its large members as canonical text, so that signing does not write them again. */
const writtenOnce = (header: object): object =>
  Object.fromEntries(
    Object.entries(header).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'object' && value !== null ? new CanonicalText(canonicalJson(value)) : value,
    ]),
  )
