/** Reads answers that are a message without envelope, as some registries send for enrolment operations (D8, D9). */
import { isJsonObject, JsonError, type JsonValue, type Operation, parseJson } from '@rollcall/protocol'
import type { PeerTrustSettings } from '../trust/open.ts'

/**
 * Puts a bare message into an envelope, if the operation allows bare answers, and our settings for the registry require neither
 * signature nor encryption. Returns any other text unchanged.
 */
export function wrapBareAnswer(
  text: string,
  { reply, reply_action: action, reply_also_bare }: Operation,
  { signature, encrypted }: Pick<PeerTrustSettings, 'signature' | 'encrypted'>,
): string {
  if (!reply_also_bare || reply.items === null || signature === 'required' || encrypted) return text
  const message = tryParseJson(text)
  if (!isJsonObject(message) || !Array.isArray(message[reply.items])) return text
  // An answer with a header or a message is an envelope already, even if it has a list of items beside them.
  if (isJsonObject(message.header) || isJsonObject(message.message)) return text
  const header = { message_id: crypto.randomUUID(), message_ts: new Date().toISOString(), action, status: 'succ' }
  return JSON.stringify({ header, message })
}

function tryParseJson(text: string): JsonValue | undefined {
  try {
    return parseJson(text)
  } catch (error) {
    if (error instanceof JsonError) return undefined
    throw error
  }
}
