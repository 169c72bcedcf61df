/** What a demo runs beside its server, and its operator switches: a receiver of callbacks, and a simulation. */

import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Static } from 'typebox'
import { closed, flag, NOTHING, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { AdminRefusal, useCase } from '../use-case.ts'

const ReceiverState = closed({
  sender_id: SenderId,
  url: text('Its address.'),
  answers: flag('Whether it takes callbacks; while it does not, it answers each with HTTP 503.'),
  taken: wholeNumber('Callbacks that it has taken since the demo was started.', 0),
  not_taken: wholeNumber('Callbacks that it has not taken since then.', 0),
  last_message_id: orNull(text('message_id of the last callback that it has taken; null: none yet.')),
})
export type DemoReceiverState = ReadOnly<Static<typeof ReceiverState>>

/** It stores nothing of a callback but its message_id. */
export interface DemoReceiver {
  state(): DemoReceiverState
  /** @param answers whether it takes callbacks from now on */
  answer(answers: boolean): void
}

/** A process of the demo that publishes events and searches, a few a second, until it is stopped. */
export interface DemoSimulation {
  isRunning(): boolean
  /** Starts it or stops it; nothing happens where it is so already. */
  run(running: boolean): void
}

export interface Demo {
  /** Null: it runs none, or none yet. */
  readonly receiver: DemoReceiver | null
  readonly simulation: DemoSimulation
}

export interface HasDemo {
  /** Undefined: the server is none of a demo. */
  readonly demo?: Demo | undefined
}

/** How the receiver of the demo is. @throws AdminRefusal there is none */
export const showDemoReceiver = useCase({ input: NOTHING, result: ReceiverState }, async (needs: HasDemo) =>
  receiverOf(needs).state(),
)

/** Makes it fail, or lets it answer again. @throws AdminRefusal there is none */
export const switchDemoReceiver = useCase(
  { input: closed({ answers: flag('false makes it fail, true lets it answer again.') }), result: ReceiverState },
  async (needs: HasDemo, { answers }) => {
    const receiver = receiverOf(needs)
    receiver.answer(answers)
    return receiver.state()
  },
)

function receiverOf({ demo }: HasDemo): DemoReceiver {
  if (demo?.receiver) return demo.receiver
  throw new AdminRefusal('this demo runs no receiver', { reason: 'not_found' })
}

const SimulationState = closed({ running: flag('Whether the simulation runs.') })

export const showSimulation = useCase({ input: NOTHING, result: SimulationState }, async ({ demo }: HasDemo) => ({
  running: demo?.simulation.isRunning() === true,
}))

/** Starts the simulation, or stops it. */
export const switchSimulation = useCase(
  { input: closed({ running: flag('true starts it, false stops it.') }), result: SimulationState },
  async ({ demo }: HasDemo, { running }) => {
    demo?.simulation.run(running)
    return { running: demo?.simulation.isRunning() === true }
  },
)
