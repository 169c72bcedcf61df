/** Encrypts a reply or notification for storage. Each attempt decrypts it, encrypts it for the receiver if needed, and signs. */
import { hash } from 'node:crypto'
import { deliveryBodyBinding, type NewDelivery, type StoredEnvelope } from '@rollcall/core/model/delivery'
import type { ReplyMembers } from '@rollcall/core/model/outcome'
import { readTraceparent, withTraceparent } from '@rollcall/core/model/traceparent'
import { type BodyEncryption, BodyUnreadable, parseDecryptedBody } from '@rollcall/keys/bodies'
import { CanonicalText, canonicalJson, isJsonObject } from '@rollcall/protocol'

/**
 * Encrypts a reply or notification, whose records are disclosed. No other function makes a `StoredEnvelope`.
 * @param id the id of the delivery
 * @param traceparent of the answered request; stored with the reply, and not signed
 * @returns header and message as they will be signed, the encrypted body, and the digest
 */
export async function encryptForStorage(
  { bodies }: { readonly bodies: Pick<BodyEncryption, 'encryptBody'> },
  id: string,
  header: object,
  members: ReplyMembers,
  traceparent: string | null = null,
): Promise<EncryptedForStorage> {
  const written = withMembersAsCanonicalText(header)
  const message = new CanonicalText(canonicalJson(members))
  const text = canonicalJson({ header: written, message })
  const body: Uint8Array = await bodies.encryptBody(withTraceparent(text, traceparent), deliveryBodyBinding(id))
  return { header: written, message, body: body as StoredEnvelope, digest: hash('sha256', text) }
}

interface EncryptedForStorage {
  readonly header: object
  readonly message: CanonicalText
  readonly body: StoredEnvelope
  /**
   * The SHA-256 of header and message in clear, in hexadecimal. The sent bytes differ, because each attempt signs and
   * encrypts again.
   */
  readonly digest: string
}

/** The header, in which canonical text replaces each object and list, so that signing does not convert them again. */
const withMembersAsCanonicalText = (header: object): object =>
  Object.fromEntries(
    Object.entries(header).map(([name, value]: [string, unknown]) => [
      name,
      typeof value === 'object' && value !== null ? new CanonicalText(canonicalJson(value)) : value,
    ]),
  )

/** The content of a delivery, which is the same in each attempt. */
export interface DeliveryContents {
  readonly header: object
  readonly message: object | CanonicalText
  /** The traceparent of the answered request; null when it had none. */
  readonly traceparent: string | null
}

/** Decrypts the contents of a delivery. @throws BodyUnreadable */
export async function decryptDelivery(
  { bodies }: { readonly bodies: Pick<BodyEncryption, 'decryptBody'> },
  { id, body }: Pick<NewDelivery, 'id' | 'body'>,
): Promise<DeliveryContents> {
  const persisted = parseDecryptedBody(await bodies.decryptBody(body, deliveryBodyBinding(id)))
  if (!isJsonObject(persisted.header) || !isJsonObject(persisted.message)) {
    throw new BodyUnreadable('altered')
  }
  const { traceparent } = persisted
  return {
    header: persisted.header,
    message: new CanonicalText(canonicalJson(persisted.message)),
    traceparent: typeof traceparent === 'string' ? readTraceparent(traceparent) : null,
  }
}
