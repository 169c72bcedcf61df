/** The address that a request names for its answer, judged as every attempt at the answer judges it. */
import { type Callback, RequestFault } from '@rollcall/protocol'
import type { Callbacks } from '../directory/directory.ts'
import type { GuardOwner, Guards } from '../egress/address-guard.ts'
import { AddressRefused } from '../egress/problems.ts'
import { callbackTarget } from './targets.ts'

export interface CheckingSenderUri {
  readonly callbacks: Callbacks
  readonly guards: Guards
}

/**
 * The address as it is persisted and called; null when the request names none. All rules of attempts are asked, except
 * those that need the name of the host resolved.
 * @throws RequestFault err.sender_uri.invalid
 */
export async function readSenderUri(
  { callbacks, guards }: CheckingSenderUri,
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
