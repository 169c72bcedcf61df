/** Receipts of withdrawals: what was stopped, signed with our own key, so that a person can show it to others. */

import type { StoppedSubscriptionsAndAnswers } from '@rollcall/delivery/store/events/consent-stopping'
import { ensureAndLoadOwnKeys } from '@rollcall/keys/own-keys'
import { CompactSign } from 'jose'
import Type from 'typebox'
import type { HasVault } from '../deps.ts'
import { closed, instant, text, wholeNumber } from '../members.ts'

export const RECEIPT_TYPE = 'consent-receipt+jwt'

export const StoppedSendingResult = closed({
  subscriptions: Type.Array(Type.String(), { description: 'Codes of subscriptions that were ended.' }),
  notifications: wholeNumber('Notifications of theirs that were waiting, or in envelopes on their way.'),
  deliveries: wholeNumber('Answers that were on their way.'),
  in_flight: wholeNumber('Messages that were being sent at that moment; there is no further attempt.'),
})

export const WithdrawalReceipt = closed({
  at: instant('When it took effect; queries are refused from then on.'),
  stopped: StoppedSendingResult,
  receipt: text(`The same with what was withdrawn, as a compact JWS of type ${RECEIPT_TYPE}, signed by the server.`),
})

/** Makes and signs a receipt. @param withdrawn what is withdrawn, as the caller gave it; the receipt says it */
export async function makeReceipt(
  { db, vault }: HasVault,
  withdrawn: object,
  stopped: StoppedSubscriptionsAndAnswers,
  at = new Date(),
) {
  const keys = await ensureAndLoadOwnKeys(db, await vault(), { error: () => undefined })
  const { kid, algorithm, privateKey } = await keys.signing()
  const claims = { iss: 'rollcall', iat: Math.floor(at.getTime() / 1_000), withdrawn, stopped }
  const receipt = await new CompactSign(new TextEncoder().encode(JSON.stringify(claims)))
    .setProtectedHeader({ alg: algorithm, typ: RECEIPT_TYPE, kid })
    .sign(privateKey)
  return { at: at.toISOString(), stopped: { ...stopped, subscriptions: [...stopped.subscriptions] }, receipt }
}
