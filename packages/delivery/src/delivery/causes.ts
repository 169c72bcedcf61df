/** The table of causes for which a delivery fails or ends: what each means, and what to do. */

import type { AddressRule, CredentialsUnusable, RequestFailure } from '@rollcall/participants/egress/problems'
import type { unsentResults } from './failures.ts'

/** The code of the cause for which an attempt failed, or for which a delivery ended or failed. */
type DeliveryCauseCode =
  | keyof typeof unsentResults
  | `address_${AddressRule}`
  | `credentials_${CredentialsUnusable['why']}`
  | RequestFailure
  | 'ack_err'
  | 'http_permanent'
  | 'http_redirect'
  | 'http_4xx'
  | 'http_5xx'
  | 'interrupted'
  | 'expired'
  | 'operator'
  | 'replayed'
  | 'recalled'
  | 'restored'

interface CauseExplanation {
  /** The explanation of the cause, for the operator. */
  readonly meaning: string
  /** The steps that an operator can take. */
  readonly advice: string
  /** The explanation for the participant. When it is absent, the participant gets `meaning`. */
  readonly ownMeaning?: string
  /** The steps that the participant itself can take. */
  readonly ownAdvice: string
}

const ADDRESS_ADVICE = 'Set another address with the participant, then replay the delivery.'
const ASK_PARTICIPANT_ADVICE = 'Ask the participant to look at its receiver. Deliveries go on by themselves; replay what is dead.'
const CHECK_YOUR_RECEIVER_ADVICE =
  'Look at your receiver. Deliveries go on by themselves; ask again for those that were given up.'
const USE_OTHER_ADDRESS_ADVICE = 'Use another address: in sender_uri, or ask the operator to set it.'
const ASK_OPERATOR_ADVICE = 'Ask the operator of the registry.'
const CREDENTIALS_ADVICE = 'Set the credentials for callbacks of the participant anew, then replay the delivery.'

/**
 * The text for a participant when a stored message may not be sent. The text does not say why: the participant might learn that
 * a person in the message is now protected, or has withdrawn a consent. A new request is answered under the grant then in force.
 */
const NOT_SENT_TEXTS = {
  ownMeaning: 'The stored message cannot be sent any more.',
  ownAdvice: 'Send your request again.',
} as const

/** The explanations of causes, by the code that a delivery or an attempt has. */
export const DELIVERY_CAUSES: Readonly<Record<DeliveryCauseCode, CauseExplanation>> = {
  ack_err: {
    meaning: 'The participant answered that it refuses the message.',
    advice: 'Read its answer with the participant. Replay the delivery only after it has changed something.',
    ownAdvice: 'Look why your system refused the message, change it, then ask for the delivery again.',
  },
  http_permanent: {
    meaning: 'The receiver answered with an HTTP status that the same message would get again.',
    advice: 'Ask the participant to mend its receiver, or set another address; then replay the delivery.',
    ownAdvice: 'Mend your receiver, or ask the operator to set another address; then ask for the delivery again.',
  },
  http_redirect: {
    meaning: 'The receiver answered with a redirect, which is not followed.',
    advice: 'Set the address to which it redirects, then replay the delivery.',
    ownAdvice: 'Ask the operator to set the address to which your receiver redirects.',
  },
  http_4xx: {
    meaning: 'The receiver answered with an HTTP status from 400 to 499, such as 401 or 404.',
    advice: 'Check the address and the credentials for callbacks with a test; then replay the delivery.',
    ownAdvice: 'Check that your receiver takes POST at this address, with the credentials that the operator has.',
  },
  http_5xx: {
    meaning: 'The receiver answered with an HTTP status of 500 or more.',
    advice: ASK_PARTICIPANT_ADVICE,
    ownAdvice: CHECK_YOUR_RECEIVER_ADVICE,
  },
  unresolved: {
    meaning: 'The name of the host in the address cannot be resolved.',
    advice: 'Check the address and the DNS of this server.',
    ownAdvice: 'Check the host name of the address, and its DNS.',
  },
  connection: {
    meaning: 'The connection could not be made, or it broke.',
    advice: ASK_PARTICIPANT_ADVICE,
    ownAdvice: CHECK_YOUR_RECEIVER_ADVICE,
  },
  timeout: {
    meaning: 'The answer did not come in time.',
    advice: 'Ask the participant to look at its receiver, or give it more time (timeout_ms).',
    ownAdvice: 'Answer as soon as the message is stored, before it is processed; or ask the operator for more time.',
  },
  too_large: {
    meaning: 'The answer of the receiver is larger than allowed.',
    advice: 'Ask the participant for a short answer.',
    ownAdvice: 'Answer with a short acknowledgement.',
  },
  encoded: {
    meaning: 'The answer of the receiver is compressed, which was not asked for.',
    advice: 'Ask the participant to answer without compression.',
    ownAdvice: 'Answer without compression.',
  },
  credentials_closed: {
    meaning: 'The credentials for callbacks cannot be decrypted.',
    advice: CREDENTIALS_ADVICE,
    ownAdvice: ASK_OPERATOR_ADVICE,
  },
  credentials_token: {
    meaning: "The participant's token endpoint did not give an access token.",
    advice: 'Ask the participant to look at its token endpoint, or set the credentials anew.',
    ownAdvice: 'Look at your token endpoint, or give the operator new credentials for callbacks.',
  },
  credentials_certificate: {
    meaning: 'The client certificate for callbacks or its key cannot be used.',
    advice: CREDENTIALS_ADVICE,
    ownAdvice: 'Give the operator a new client certificate for callbacks.',
  },
  no_encryption_key: {
    meaning: 'The participant has no valid key to encrypt with, and nothing is sent in clear.',
    advice: 'Register a key for encryption with the participant.',
    ownAdvice: 'Give the operator a public key for encryption, or publish one.',
  },
  no_address: {
    meaning: 'There is no address: neither the request nor the participant names one.',
    advice: 'Set the default address for callbacks of the participant, then replay the delivery.',
    ownAdvice: 'Name sender_uri in your requests, or ask the operator to set a default address.',
  },
  address_not_registered: {
    meaning: 'The address is not registered for the participant any more.',
    advice: 'Allow the address with the participant, or set another one; then replay the delivery.',
    ownAdvice: 'Ask the operator to allow the address, or name an allowed one in sender_uri.',
  },
  address_form: {
    meaning: 'The address is not an absolute address.',
    advice: ADDRESS_ADVICE,
    ownAdvice: USE_OTHER_ADDRESS_ADVICE,
  },
  address_spelling: {
    meaning: 'Host and port of the address are not in their usual form.',
    advice: ADDRESS_ADVICE,
    ownAdvice: USE_OTHER_ADDRESS_ADVICE,
  },
  address_scheme: {
    meaning: 'The address is not https, and plain http is not allowed for its host.',
    advice: ADDRESS_ADVICE,
    ownAdvice: 'Use an https address.',
  },
  address_userinfo: {
    meaning: 'The address has a user name or a password.',
    advice: ADDRESS_ADVICE,
    ownAdvice: USE_OTHER_ADDRESS_ADVICE,
  },
  address_fragment: { meaning: 'The address has a fragment.', advice: ADDRESS_ADVICE, ownAdvice: USE_OTHER_ADDRESS_ADVICE },
  address_port: {
    meaning: 'The address has a port to which requests may not be sent.',
    advice: ADDRESS_ADVICE,
    ownAdvice: USE_OTHER_ADDRESS_ADVICE,
  },
  address_network: {
    meaning: 'The address is not on the public network, and its host is not allowed.',
    advice: 'Allow the host for the participant, or set another address; then replay the delivery.',
    ownAdvice: 'Use an address on the public network, or ask the operator to allow the host.',
  },
  not_permitted: {
    meaning: 'The grant of today does not permit the answer, or not with these records.',
    advice: 'Nothing is to be done. The participant may ask again once its grant permits it.',
    ...NOT_SENT_TEXTS,
  },
  body_forgotten: {
    meaning: "The key of the message's day is destroyed: it was older than messages are stored.",
    advice: 'It cannot be sent any more. The participant has to ask again.',
    ...NOT_SENT_TEXTS,
  },
  body_altered: {
    meaning: 'The stored message was altered or moved.',
    advice: 'Look for who changed the database. The participant has to ask again.',
    ...NOT_SENT_TEXTS,
  },
  internal: {
    meaning: 'The server failed. The log says why.',
    advice: 'Read the log of the node. The delivery is attempted again by itself.',
    ownAdvice: 'Nothing is to be done. The delivery is attempted again by itself.',
  },
  interrupted: {
    meaning: 'The node that attempted it stopped, so that it is not known whether it arrived.',
    advice: 'Nothing is to be done. The delivery is attempted again by itself.',
    ownAdvice:
      'Nothing is to be done. The delivery is attempted again by itself. Acknowledge a message_id that you know, and do not process it twice.',
  },
  expired: {
    meaning: 'Its destination was not reached for as long as deliveries are attempted.',
    advice: 'Check the address with a test. When the receiver is well, replay the delivery.',
    ownAdvice: 'When your receiver is well, ask for the delivery again.',
  },
  operator: {
    meaning: 'An operator cancelled it.',
    advice: 'Replay it if it is to be sent after all.',
    ownAdvice: ASK_OPERATOR_ADVICE,
  },
  replayed: {
    meaning: 'Its events were asked for again, and were composed and sent anew.',
    advice: 'Nothing is to be done. Another delivery has its events.',
    ownAdvice: 'Nothing is to be done. Another delivery has its events.',
  },
  recalled: {
    meaning: 'The envelope was taken back before it was sent, because a grant or a subscription changed.',
    advice: 'Nothing is to be done. What may still be sent is composed anew.',
    ownAdvice: 'Nothing is to be done. What may still be sent is composed anew.',
  },
  restored: {
    meaning: 'It waited in a database that was restored from a backup, and an operator decided that it is not sent.',
    advice: 'Replay it if it is to be sent after all. It may have been sent before the restore.',
    ownAdvice: 'Send your request again if you still need its answer.',
  },
}

/** The explanation of a cause; null when there is no cause, or this version does not know it. */
export function explainCause(cause: string | null) {
  const found = findCauseExplanation(cause)
  return cause === null || found === null ? null : { cause, meaning: found.meaning, advice: found.advice }
}

/** The explanation of a cause for the participant, which owns the receiving system; null as in `explainCause`. */
export function explainCauseToParticipant(cause: string | null) {
  const found = findCauseExplanation(cause)
  return found && { meaning: found.ownMeaning ?? found.meaning, advice: found.ownAdvice }
}

function findCauseExplanation(cause: string | null): CauseExplanation | null {
  const known: Readonly<Record<string, CauseExplanation>> = DELIVERY_CAUSES
  return cause !== null && Object.hasOwn(known, cause) ? (known[cause] ?? null) : null
}
