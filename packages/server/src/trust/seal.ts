/** Seals what goes out: encrypted where it was asked encrypted, then signed (spec "Authentication", 1.5). */

import {
  CanonicalText,
  canonicalJson,
  DEFAULT_SIGNATURE_PROFILE,
  encryptMessage,
  RequestFault,
  type SignatureProfile,
  sign,
} from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'

/** Seconds that a signature of ours lives. */
const LIFETIME = 300

/**
 * The body of an outgoing envelope as canonical JSON text: what is signed is, byte for byte, what is sent.
 *
 * @param header without is_msg_encrypted, which is set here
 * @param encrypt whether the message must be encrypted for the participant
 * @throws RequestFault err.encryption.invalid when it must and the participant has no usable key, or none any more:
 * nothing goes out in clear then
 */
export async function sealEnvelope(
  context: Context,
  registry: Registry,
  participant: Participant,
  envelope: { readonly header: object; readonly message: object },
  encrypt: boolean,
): Promise<string> {
  const clear = new CanonicalText(canonicalJson(envelope.message))
  const message = encrypt ? await encryptFor(context, participant, clear) : clear
  const header = { ...envelope.header, is_msg_encrypted: encrypt }
  const key = await context.keys.signing()
  const created = Math.floor(Date.now() / 1_000)
  const signature = await sign({
    header,
    message,
    profile: profileFor(participant),
    key: { ...key, sender_id: registry.sender_id },
    namespace: context.signatureNamespaces.written,
    created,
    expires: created + LIFETIME,
  })
  return canonicalJson({ header, message, signature })
}

async function encryptFor(
  context: Context,
  participant: Participant,
  clear: CanonicalText,
): Promise<CanonicalText> {
  const key = await context.peerKeys.encryption(participant)
  if (key === null) {
    throw new RequestFault(
      'err.encryption.invalid',
      'message: there is no usable key of the sender to encrypt the answer with',
    )
  }
  return new CanonicalText(canonicalJson(await encryptMessage({ message: clear.text, key })))
}

/** The participant's own profile where our key can sign in it, else the specification's. */
function profileFor({ signature_profile }: Participant): SignatureProfile {
  return signature_profile.algorithms.includes('EdDSA') ? signature_profile : DEFAULT_SIGNATURE_PROFILE
}
