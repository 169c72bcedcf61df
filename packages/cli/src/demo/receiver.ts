/** The receiver of callbacks in the process of the demo. Users can make it refuse callbacks, and accept them again. */

import { AdminRefusal } from '@rollcall/admin/admin-function'
import { changeCallback } from '@rollcall/admin/callbacks/callbacks'
import { type Handlers, Receiver } from '@rollcall/client'
import type { Jwk } from '@rollcall/protocol'
import { publishedKeysAddress } from '../asking/target.ts'
import type { DemoCredentials } from './credentials.ts'
import type { DemoRegistry } from './demo-file.ts'

type DemoCallbackDeps = Parameters<typeof changeCallback>[0]

export interface DemoReceiver {
  state(): {
    /** False: the receiver answers each callback with HTTP 503. */
    readonly answers: boolean
    /** Numbers of accepted and refused callbacks since the start of the demo. */
    readonly taken: number
    readonly not_taken: number
    /** The message_id of the last accepted callback; null for none yet. Nothing else of a callback is kept. */
    readonly last_message_id: string | null
  }
  /** Switches the receiver. @param answers true: it accepts callbacks; false: it refuses them */
  answer(answers: boolean): void
  handle(request: Request): Promise<Response>
}

export interface ReceiverOptions {
  /** The address of the registries, where their public keys are. */
  readonly base_url: string
  readonly participant: Pick<DemoCredentials, 'sender_id' | 'encrypt'>
  readonly registries: readonly Pick<DemoRegistry, 'receiver_id'>[]
}

export const RECEIVER_HOST = '127.0.0.1'
/** The path of the receiver. A stored callback address with this host and path was set by an earlier start of the demo. */
export const RECEIVER_PATH = '/demo-receiver'

/** Finds the port of the receiver of an earlier start; 0: there was none. */
export async function findEarlierReceiverPort(deps: DemoCallbackDeps, sender_id: string): Promise<number> {
  const { default_url: stored } = await changeCallback(deps, { sender_id })
  return isReceiverAddress(stored) ? Number(new URL(stored).port) : 0
}

/**
 * Sets the receiver as callback address of a participant. An address that an earlier start of the demo has set is replaced; any
 * other address stays.
 * @param url null: the demo has no receiver, and the address of an earlier start is removed
 */
export async function setDemoCallback(deps: DemoCallbackDeps, sender_id: string, url: string | null): Promise<void> {
  const { default_url: stored } = await changeCallback(deps, { sender_id })
  if (stored === url || (stored !== null && !isReceiverAddress(stored))) return
  await changeCallback(deps, { sender_id, default_url: url }).catch((error: unknown) => {
    // The address is refused when an operator has restricted the addresses of the participant.
    if (!(error instanceof AdminRefusal)) throw error
    process.stderr.write(`rollcall: the receiver of the demo is not called: ${error.message}\n`)
  })
}

function isReceiverAddress(address: string | null): address is string {
  const { hostname, pathname } = URL.parse(address ?? '') ?? { hostname: '', pathname: '' }
  return hostname === RECEIVER_HOST && pathname === RECEIVER_PATH
}

export function createDemoReceiver({ base_url, participant, registries }: ReceiverOptions): DemoReceiver {
  const { sender_id, encrypt } = participant
  let state: ReturnType<DemoReceiver['state']> = { answers: true, taken: 0, not_taken: 0, last_message_id: null }
  const take = async ({ header }: { readonly header: { readonly message_id: string } }): Promise<void> => {
    state = { ...state, last_message_id: header.message_id }
  }
  const handlers: Handlers = {
    'on-search': take,
    'on-subscribe': take,
    'on-unsubscribe': take,
    'txn-on-status': take,
    notify: take,
    rejected: take,
  }
  const keys = publishedKeysAddress(base_url)
  const receiver = new Receiver({
    peers: registries.map(({ receiver_id }) => ({ sender_id: receiver_id, keys })),
    receiver_id: sender_id,
    decryption_keys: [encrypt.private_jwk as Jwk],
    handlers,
    // Nothing in this process calls `awaitCallback`, so the receiver keeps no callbacks for it.
    held: { callbacks: 0 },
  })
  return {
    state: () => state,
    answer(answers) {
      state = { ...state, answers }
    },
    async handle(request) {
      const response = state.answers ? await receiver.handle(request) : new Response(null, { status: 503 })
      state = response.ok ? { ...state, taken: state.taken + 1 } : { ...state, not_taken: state.not_taken + 1 }
      return response
    },
  }
}
