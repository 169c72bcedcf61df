/** Answers a synchronous request. An error in one item is reported in that item. */

import { auditEntryOf, auditEntryOfAccepted, auditedMessage } from '@rollcall/audit/audit-entry-of'
import type { AuditLog } from '@rollcall/core/model/audit-entry'
import { OutcomeOutdated } from '@rollcall/core/model/outcome'
import { HeaderRejection } from '@rollcall/protocol'
import { answerMessage, unansweredMembers } from '../operations/handlers.ts'
import type { Answering } from '../operations/item.ts'
import type { Outcome } from '../operations/outcome.ts'
import { commitEffects } from '../store/exchanges/replies.ts'
import { duplicate, exchangeRow, type Remembering } from './remember.ts'
import { type Reply, type Replying, rejectedReply, reply } from './reply.ts'
import { orRejection, type VerifiedRequest } from './unread-request.ts'

/** How often an answer is made anew because the data it was decided by have changed; then the request fails. */
const DECIDED = 10

export type AnsweringNow = Remembering & Answering & Replying & { readonly auditLog: AuditLog }

export async function answerNow(
  deps: AnsweringNow,
  { exchange, unread, opened, signed, rejection, path }: VerifiedRequest,
): Promise<Reply> {
  const rejected = (by: HeaderRejection, of = exchange): Promise<Reply> =>
    rejectedReply(deps, of, opened, by, (message) => unansweredMembers(of, message, by.message))
  if (rejection !== null) return rejected(rejection)

  // Remembered before anything is done: of two equal messages one is the first. The second is answered anew, under the
  // correlation_id of the first and the grant of today.
  const { known, correlation_id } = await deps.exchanges.remember(exchangeRow(exchange, opened, path))
  if (known === 'different') return rejected(duplicate())
  const remembered = { ...exchange, correlation_id }

  const checked = await orRejection(() => unread.read(remembered, opened, signed !== null))
  if (checked instanceof HeaderRejection) return rejected(checked, remembered)
  const [{ message }] = checked.chunks
  const request = auditedMessage(exchange.header.message_id, checked.digest, signed)
  // Before anything is written, an entry says who asked for it. It remains if the entry of the answer cannot be
  // written.
  if (exchange.operation.writes)
    await deps.auditLog.write(...auditEntryOfAccepted(remembered, message.transaction_id, { request, reply: null }))
  const outcome = await answerAndCommit(deps, () =>
    answerMessage(deps, { mode: 'sync', exchange: remembered, message }),
  )
  const answer = await reply(deps, remembered, message.transaction_id, outcome)
  // Committed before the answer leaves: what has no audit entry is not sent.
  const messages = { request, reply: answer.message }
  await deps.auditLog.write(...auditEntryOf('answer', remembered, message.transaction_id, outcome, messages))
  return answer
}

/** Makes the answer and commits its effects; again if the data it was decided by have changed meanwhile. */
async function answerAndCommit(deps: AnsweringNow, answer: () => Promise<Outcome>): Promise<Outcome> {
  for (let times = 1; ; times += 1) {
    try {
      const outcome = await answer()
      if (outcome.effects !== undefined) await commitEffects(deps.db, outcome.effects)
      return outcome
    } catch (error) {
      if (!(error instanceof OutcomeOutdated) || times === DECIDED) throw error
    }
  }
}
