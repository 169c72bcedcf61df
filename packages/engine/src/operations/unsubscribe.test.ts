/** The time that an answer to unsubscribe takes. What it says is tested in packages/server/test/engine/operations. */
import { readGrant } from '@rollcall/core/policy/grant'
import { type Kind, kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { processorTime } from '../../../core/test/processor-time.ts'
import { answerUnsubscribe } from './unsubscribe.ts'

const terms = { operations: 'all', see: 'all', basis: 'law', event_types: 'all' } as const
const grant = readGrant(kindNamed('civil') as Kind, { id: 1, terms })

test('the time of an answer grows with the number of its codes, not with its square', async () => {
  const codes = Array.from({ length: 100_000 }, (_, index) => `00000000-0000-4000-8000-${index}`)
  const own = { state: 'live', reason: null, event_type: 'LiveBirth', record_type: 'Person', unfiltered: false }
  const deps = {
    clock: { date: () => 0 },
    db: { pool: { query: async () => ({ rows: codes.map((code, id) => ({ id, code, ...own })) }) } },
    limits: { timestamp_window: 0 },
    metrics: { itemAnswered: () => undefined },
  }
  const exchange = { correlation_id: 'c-1', grant, participant: { id: 1 }, registry: { id: 1 }, received_at: new Date(0) }
  const message = { transaction_id: 'tx-1', subscription_codes: codes }
  const began = processorTime()
  const { audited, status } = await answerUnsubscribe(deps as never, { mode: 'async', exchange, message } as never)
  expect(processorTime() - began).toBeLessThan(5_000)
  expect(status).toBe('succ')
  expect(new Set(audited.map(({ code }) => code))).toEqual(new Set(['succ']))
})
