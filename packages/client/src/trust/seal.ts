/** Seals what we send: encrypted once, signed anew for each attempt (spec "Authentication", N16). */
import {
  CanonicalText,
  canonicalJson,
  type EncryptionKey,
  encryptMessage,
  type RequestHeader,
  sign,
} from '@rollcall/protocol'
import type { Signer } from './own-keys.ts'

/** A message whose header and content stay as they are over all attempts. */
export interface Prepared {
  readonly header: RequestHeader
  readonly message: CanonicalText
}

/** @param key of the receiver, when the message is to be encrypted */
export async function prepare(
  header: Omit<RequestHeader, 'is_msg_encrypted'>,
  message: object,
  key: EncryptionKey | null,
): Promise<Prepared> {
  const clear = canonicalJson(message)
  const text = key === null ? clear : canonicalJson(await encryptMessage({ message: clear, key }))
  return {
    header: { ...header, is_msg_encrypted: key !== null } as RequestHeader,
    message: new CanonicalText(text),
  }
}

/** The body as canonical JSON: what is signed is, byte for byte, what is sent. */
export async function sealedBody({ header, message }: Prepared, signer: Signer | null): Promise<string> {
  if (signer === null) return canonicalJson({ header, message })
  const { key, profile, namespace, lifetime } = signer
  const created = Math.floor(Date.now() / 1_000)
  const expires = created + lifetime
  const signature = await sign({ header, message, profile, key, namespace, created, expires })
  return canonicalJson({ header, message, signature })
}
