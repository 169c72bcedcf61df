/** Opens an encrypted message, or finds that it is in clear where it may be (spec "EncryptedMessage", D20). */

import {
  type Callback,
  ciphertextFingerprint,
  decryptedMessage,
  decryptText,
  type EncryptedMessage,
  EncryptionProblem,
  encryptionProblem,
  type JsonObject,
  type Operation,
  RequestFault,
} from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { Exchange } from '../model/exchange.ts'
import type { Participant } from '../model/participant.ts'
import { messageBounds } from '../reading/bounds.ts'
import { readLargeMessage } from '../reading/large.ts'
import { messageOf } from '../reading/rows.ts'
import { LARGE } from '../reading/threads.ts'

/** Whether a policy takes a message that comes so. */
const TAKES: Readonly<Record<Participant['encryption_policy'], { encrypted: boolean; clear: boolean }>> = {
  required: { encrypted: true, clear: false },
  allowed: { encrypted: true, clear: true },
  refused: { encrypted: false, clear: true },
}

/**
 * The message in clear. Every way in which an encrypted one cannot be opened gives the same answer, and one that
 * was copied from another message is among them: whoever gets it opened would learn of it, if only by a rejection.
 * @param row whose message it is
 * @param options.answered whether an answer is to follow that has to be encrypted as well; an ack never is
 * @throws RequestFault err.encryption.invalid
 */
export async function openMessage(
  context: Context,
  { participant, header, encrypted }: Pick<Exchange, 'participant' | 'header' | 'encrypted'>,
  row: Operation | Callback,
  message: JsonObject,
  { answered = true }: { readonly answered?: boolean } = {},
): Promise<JsonObject> {
  const takes = TAKES[participant.encryption_policy]
  const problem = encryptionProblem(encrypted, message)
  if (problem !== null) throw invalid(problem)
  if (!encrypted) {
    if (!takes.clear) throw invalid('message: must be encrypted')
    return message
  }
  if (!takes.encrypted) throw invalid('message: this participant is registered to send in clear')
  // Asked encrypted, answered encrypted: without a key to answer with, nothing is looked up at all.
  if (answered && (await context.peerKeys.encryption(participant)) === null) {
    throw invalid('message: there is no usable key of the sender to encrypt the answer with')
  }
  const opened = await open(context, participant, row, message)
  const fingerprint = Buffer.from(await ciphertextFingerprint(message as unknown as EncryptedMessage))
  const { message_id } = header
  const own = await context.ciphertexts.remember({ fingerprint, participant: participant.id, message_id })
  if (!own) throw invalid(CLOSED)
  return opened
}

async function open(
  context: Context,
  participant: Participant,
  row: Operation | Callback,
  message: JsonObject,
): Promise<JsonObject> {
  const { limits } = context
  try {
    const text = await decryptText(message, (kid) => context.keys.decryption(kid), {
      maxCiphertextBytes: limits.body_bytes,
    })
    const bounds = messageBounds(limits, messageOf(row))
    // What a callback says is read here, because more than its row says how.
    if (text.length < LARGE || !('request' in row)) return decryptedMessage(text, bounds)
    const read = await readLargeMessage(context, row, participant.id, text, bounds)
    if (read !== null) return read
    throw invalid(CLOSED)
  } catch (error) {
    if (!(error instanceof EncryptionProblem)) throw error
    throw invalid(CLOSED)
  }
}

const CLOSED = 'message: cannot be opened'

const invalid = (message: string): RequestFault => new RequestFault('err.encryption.invalid', message)
