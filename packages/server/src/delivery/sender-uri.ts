/** The address that a request names for its answer, judged as every attempt at the answer judges it. */
import { type Callback, RequestFault } from '@rollcall/protocol'
import type { Context } from '../context.ts'
import type { GuardOwner } from '../egress/address-guard.ts'
import { AddressRefused } from '../egress/problems.ts'
import { callbackTarget } from './targets.ts'

/**
 * The address as it is kept and called; null when the request names none. Of the rules of attempts only those are not
 * asked that need a resolver.
 * @throws RequestFault err.sender_uri.invalid
 */
export async function readSenderUri(
  { callbacks, guards }: Pick<Context, 'callbacks' | 'guards'>,
  participant: GuardOwner,
  sender_uri: string | null,
  callback: Callback | null,
): Promise<string | null> {
  if (sender_uri === null) return null
  const target = callbackTarget(await callbacks.of(participant), sender_uri, callback)
  if (target === null) return null
  try {
    guards.of(participant).read(target)
  } catch (error) {
    if (!(error instanceof AddressRefused)) throw error
    throw new RequestFault('err.sender_uri.invalid', `header.sender_uri: ${error.message}`)
  }
  return target
}
