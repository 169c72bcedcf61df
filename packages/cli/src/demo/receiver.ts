/** The receiver of callbacks that the demo runs in its own process, so that there is one to break and to mend. */

import { changeCallback } from '@rollcall/admin/callbacks/callbacks'
import type { DemoReceiver } from '@rollcall/admin/demo/beside-server'
import { AdminRefusal } from '@rollcall/admin/use-case'
import { type Handlers, Receiver } from '@rollcall/client'
import type { Jwk } from '@rollcall/protocol'
import { type CallbackServer, listenForCallbacks } from '../asking/listening.ts'
import { publishedKeysAt } from '../asking/target.ts'
import { CommandError } from '../failure.ts'
import type { DemoCredentials } from './credentials.ts'
import type { DemoRegistry } from './demo-file.ts'

type Needs = Parameters<typeof changeCallback>[0]

export interface RunningReceiver extends DemoReceiver {
  close(): Promise<void>
}

export interface Received {
  /** The address of the registries, where their public keys are. */
  readonly base_url: string
  readonly participant: Pick<DemoCredentials, 'sender_id' | 'encrypt'>
  readonly registries: readonly Pick<DemoRegistry, 'receiver_id'>[]
}

const HOST = '127.0.0.1'
/** By its path a stored address is known as one of an earlier start. */
const PATH = '/demo-receiver'

/** Starts it, where it was if that port is free, and makes it the address of callbacks of a participant that has none. */
export async function startDemoReceiver(needs: Needs, received: Received): Promise<RunningReceiver> {
  const { sender_id } = received.participant
  const { default_url: stored } = await changeCallback(needs, { sender_id })
  const receiver = await listening(received, isOfDemo(stored) ? Number(new URL(stored).port) : 0)
  const { url } = receiver.state()
  if (stored === null || (isOfDemo(stored) && stored !== url)) {
    await changeCallback(needs, { sender_id, default_url: url }).catch((error: unknown) => {
      // Somebody has narrowed what the participant may be reached at.
      if (!(error instanceof AdminRefusal)) throw error
      process.stderr.write(`rollcall: the receiver of the demo is not called: ${error.message}\n`)
    })
  }
  return receiver
}

/** Without a receiver: the address of an earlier start is nobody's. */
export async function forgetDemoReceiver(needs: Needs, sender_id: string): Promise<void> {
  const { default_url } = await changeCallback(needs, { sender_id })
  if (isOfDemo(default_url)) await changeCallback(needs, { sender_id, default_url: null })
}

function isOfDemo(address: string | null): address is string {
  const { hostname, pathname } = URL.parse(address ?? '') ?? { hostname: '', pathname: '' }
  return hostname === HOST && pathname === PATH
}

async function listening({ base_url, participant, registries }: Received, port: number): Promise<RunningReceiver> {
  const { sender_id, encrypt } = participant
  let state = { answers: true, taken: 0, not_taken: 0, last_message_id: null as string | null }
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
  const keys = publishedKeysAt(base_url)
  const receiver = new Receiver({
    peers: registries.map(({ receiver_id }) => ({ sender_id: receiver_id, keys })),
    receiver_id: sender_id,
    decryption_keys: [encrypt.private_jwk as Jwk],
    handlers,
    // Nobody asks it for a callback.
    held: { callbacks: 0 },
  })
  const handle = async (request: Request): Promise<Response> => {
    const response = state.answers ? await receiver.handle(request) : failing()
    state = response.ok ? { ...state, taken: state.taken + 1 } : { ...state, not_taken: state.not_taken + 1 }
    return response
  }
  const server = await listenAt(port, handle)
  return {
    state: () => ({ sender_id, url: `${server.url}${PATH}`, ...state }),
    answer(answers) {
      state = { ...state, answers }
    },
    close: () => server.close(),
  }
}

const failing = (): Response => new Response(null, { status: 503 })

/** At this port, else at any. */
async function listenAt(port: number, handle: (request: Request) => Promise<Response>): Promise<CallbackServer> {
  return listenForCallbacks({ host: HOST, port }, handle).catch((error: unknown) => {
    if (port === 0 || !(error instanceof CommandError)) throw error
    return listenForCallbacks({ host: HOST, port: 0 }, handle)
  })
}
