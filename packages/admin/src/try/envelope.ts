/** Makes the message of a search that is tried out, and the text that a participant signs. */
import { randomUUID } from 'node:crypto'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { type QueryWithForm, searchCriteriaOf } from '@rollcall/participants/programs/curl-and-typescript'
import type { ParticipantKey } from '@rollcall/participants/store/participant-keys'
import {
  ALGORITHMS,
  type AlgorithmName,
  canonicalJson,
  type JsonObject,
  operation,
  PROTOCOL_VERSION,
  REG_TYPE_PREFIX,
  SIGNATURE_LIFETIME,
  signedContent,
} from '@rollcall/protocol'

export interface TrialQuestion {
  readonly registry: Registry
  readonly participant: Participant
  readonly record_type: string
  readonly form: QueryWithForm
  readonly page_size: number | undefined
  readonly now: Date
}

export interface TrialEnvelope extends JsonObject {
  readonly header: JsonObject
  readonly message: JsonObject
}

/** Makes the unsigned message of a search, with new ids: as an object, and as text in `body`. */
export function makeTrialEnvelope({ registry, participant, record_type, form, page_size, now }: TrialQuestion) {
  const time = now.toISOString()
  const criteria: JsonObject = {
    reg_type: `${REG_TYPE_PREFIX}${registry.kind.reg_type.name}`,
    reg_record_type: record_type,
    ...searchCriteriaOf(form, record_type),
    ...(page_size !== undefined && { pagination: { page_size, page_number: 1 } }),
  }
  const envelope: TrialEnvelope = {
    header: {
      version: PROTOCOL_VERSION,
      message_id: randomUUID(),
      message_ts: time,
      action: operation('search').action,
      sender_id: participant.sender_id,
      receiver_id: registry.sender_id,
      total_count: 1,
      is_msg_encrypted: false,
    },
    message: {
      transaction_id: randomUUID(),
      search_request: [{ reference_id: '1', timestamp: time, search_criteria: criteria }],
    },
  }
  return { envelope, criteria, body: canonicalJson(envelope) }
}

/** Returns the text that the participant must sign; null: the algorithm of the key is no signature algorithm. */
export async function textToSign(
  { signatureNamespaces }: { readonly signatureNamespaces: { readonly written: string } },
  { sender_id, signature_profile: profile }: Participant,
  { kid, algorithm }: Pick<ParticipantKey, 'kid' | 'algorithm'>,
  { envelope, now }: { readonly envelope: TrialEnvelope; readonly now: Date },
): Promise<string | null> {
  const names = Object.keys(ALGORITHMS) as AlgorithmName[]
  const known = names.find((name) => name === algorithm)
  if (known === undefined) return null
  const created = Math.floor(now.getTime() / 1_000)
  const times = { created, expires: created + SIGNATURE_LIFETIME }
  const key = { sender_id, kid, algorithm: known }
  const content = await signedContent({ ...envelope, profile, key, namespace: signatureNamespaces.written, ...times })
  return new TextDecoder().decode(content)
}
