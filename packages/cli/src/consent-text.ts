/** Texts for people about withdrawals of consents. */

import type { withdrawConsent } from '@rollcall/admin/consents/consents'
import { countWithNoun } from './output.ts'

type Withdrawal = Awaited<ReturnType<typeof withdrawConsent>>

export const withdrawalText = (done: Withdrawal): string =>
  [`withdrawn at ${done.at}`, stoppedText(done), `receipt  ${done.receipt}`].join('\n')

/** Returns a text of what a withdrawal has stopped: subscriptions with their codes, and waiting notifications and answers. */
export function stoppedText({ stopped }: Pick<Withdrawal, 'stopped'>): string {
  const { subscriptions, notifications, deliveries, in_flight } = stopped
  return [
    `stopped  ${countWithNoun(subscriptions.length, 'subscription')}, ${countWithNoun(notifications, 'notification')}, ${countWithNoun(deliveries, 'answer')} on the way`,
    ...(in_flight === 0 ? [] : [`${in_flight} messages are being sent at this moment; they are not sent again`]),
    ...subscriptions.map((code) => `  ${code}`),
  ].join('\n')
}
