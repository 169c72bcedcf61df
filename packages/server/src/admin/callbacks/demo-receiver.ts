/** The receiver of callbacks that a demo runs in its own process: what it took, and the switch by which it fails. */
import type { Static } from 'typebox'
import type { ReadOnly } from '../../model/read-only.ts'
import { closed, flag, NOTHING, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { AdminRefusal, useCase } from '../use-case.ts'

const State = closed({
  sender_id: SenderId,
  url: text('Its address.'),
  answers: flag('Whether it takes callbacks; while it does not, it answers each with HTTP 503.'),
  taken: wholeNumber('Callbacks that it has taken since the demo was started.', 0),
  not_taken: wholeNumber('Callbacks that it has not taken since then.', 0),
  last_message_id: orNull(text('message_id of the last callback that it has taken; null: none yet.')),
})
export type DemoReceiverState = ReadOnly<Static<typeof State>>

/** It stores nothing of a callback but its message_id. */
export interface DemoReceiver {
  state(): DemoReceiverState
  /** @param answers whether it takes callbacks from now on */
  answer(answers: boolean): void
}

export interface HasDemoReceiver {
  /** Null: this server is no demo, or a demo without a receiver. */
  readonly demoReceiver: { readonly current: DemoReceiver | null }
}

/** How the receiver of the demo is. */
export const showDemoReceiver = useCase(
  { input: NOTHING, result: State },
  async ({ demoReceiver }: HasDemoReceiver) => receiverOf(demoReceiver).state(),
)

/** Makes it fail, or lets it answer again. */
export const switchDemoReceiver = useCase(
  {
    input: closed({ answers: flag('false makes it fail, true lets it answer again.') }),
    result: State,
  },
  async ({ demoReceiver }: HasDemoReceiver, { answers }) => {
    const receiver = receiverOf(demoReceiver)
    receiver.answer(answers)
    return receiver.state()
  },
)

/** @throws AdminRefusal there is none */
function receiverOf({ current }: HasDemoReceiver['demoReceiver']): DemoReceiver {
  if (current !== null) return current
  throw new AdminRefusal('this server runs no receiver of a demo', { reason: 'not_found' })
}
