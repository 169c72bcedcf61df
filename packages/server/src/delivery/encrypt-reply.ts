/** A reply is encrypted at rest before its first attempt. */
import { CanonicalText, canonicalJson } from '@rollcall/protocol'
import type { Bodies } from '../keys/bodies.ts'
import { deliveryContext, type EncryptedReply } from '../model/delivery.ts'
import type { ReplyMembers } from '../model/outcome.ts'

/**
 * The only maker of an `EncryptedReply`: of what a reply or a notification may be made of, in which records are disclosed.
 * @param id of the delivery
 */
export async function encryptReply(
  { bodies }: { readonly bodies: Pick<Bodies, 'encryptBody'> },
  id: string,
  header: object,
  members: ReplyMembers,
): Promise<{ readonly message: CanonicalText; readonly body: EncryptedReply }> {
  const message = new CanonicalText(canonicalJson(members))
  const body = await bodies.encryptBody(canonicalJson({ header, message }), deliveryContext(id))
  return { message, body: body as EncryptedReply }
}
