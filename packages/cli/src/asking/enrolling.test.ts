import type { EnrolmentUpdate } from '@rollcall/client'
import type { JsonObject } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type EnrolledRowCounts, type EnrolmentRow, enrolRows, MESSAGE_LIMITS, type RowRejection } from './enrolling.ts'

/** A registry that rejects the beneficiaries that say so. */
function registry() {
  const messages: (readonly JsonObject[])[] = []
  const rejects: RowRejection[] = []
  const send = async (beneficiaries: readonly JsonObject[]): Promise<readonly EnrolmentUpdate[]> => {
    messages.push(beneficiaries)
    return beneficiaries.map(({ bad }, index) => {
      const ok = bad !== true
      return {
        index,
        ok,
        reference_id: String(index),
        message: ok ? null : 'enrolment_status: is none',
        transaction_id: 't',
        correlation_id: 'c',
      }
    })
  }
  const reject = async (more: readonly RowRejection[]): Promise<void> => void rejects.push(...more)
  return { messages, rejects, sending: { send, reject } }
}

async function* given(rows: readonly EnrolmentRow[]): AsyncGenerator<EnrolmentRow> {
  yield* rows
}

async function all(rows: readonly EnrolmentRow[], { sending }: ReturnType<typeof registry>): Promise<EnrolledRowCounts[]> {
  const states: EnrolledRowCounts[] = []
  for await (const state of enrolRows(given(rows), sending)) states.push(state)
  return states
}

const row = (line: number, document: JsonObject = {}): EnrolmentRow => ({ line, end: line * 10, document })

describe('rows of a file', () => {
  test('are sent in messages of 100, in their order', async () => {
    const asked = registry()
    const rows = Array.from({ length: 250 }, (_, at) => row(at + 1, { at }))
    const states = await all(rows, asked)
    expect(asked.messages.map((message) => message.length)).toEqual([100, 100, 50])
    expect(asked.messages.flat().map(({ at }) => at)).toEqual(rows.map((_, at) => at))
    expect(states.at(-1)).toEqual({ lines: 250, taken: 250, rejected: 0, bytes: 2_500 })
  })

  test('that are large go in messages of their own', async () => {
    const asked = registry()
    const large = { text: 'x'.repeat(MESSAGE_LIMITS.size) }
    await all([row(1), row(2, large), row(3, large), row(4)], asked)
    expect(asked.messages.map((message) => message.length)).toEqual([1, 1, 1, 1])
  })

  test('that cannot be read or are rejected are listed with their lines, and stop nothing', async () => {
    const asked = registry()
    const rows = [row(2, { bad: true }), { line: 3, end: 30, problem: 'not JSON' }, row(5)]
    expect(await all(rows, asked)).toEqual([{ lines: 3, taken: 1, rejected: 2, bytes: 50 }])
    expect(asked.rejects).toEqual([
      { line: 2, reason: 'enrolment_status: is none' },
      { line: 3, reason: 'not JSON' },
    ])
  })

  test('of which none can be read are not sent', async () => {
    const asked = registry()
    expect(await all([{ line: 1, end: 9, problem: 'not JSON' }], asked)).toMatchObject([{ rejected: 1 }])
    expect(asked.messages).toEqual([])
    expect(await all([], asked)).toEqual([])
  })

  test('are not sent any more by one who has left', async () => {
    const asked = registry()
    const rows = Array.from({ length: 300 }, (_, at) => row(at + 1))
    for await (const _state of enrolRows(given(rows), asked.sending)) break
    expect(asked.messages).toHaveLength(1)
  })

  test('are each taken or rejected', async () => {
    const lines = fc.array(fc.constantFrom('good', 'bad', 'unread'), { maxLength: 350 })
    await fc.assert(
      fc.asyncProperty(lines, async (kinds) => {
        const asked = registry()
        const rows = kinds.map((kind, at): EnrolmentRow => {
          if (kind === 'unread') return { line: at + 1, end: at, problem: 'not JSON' }
          return row(at + 1, { bad: kind === 'bad' })
        })
        const state = (await all(rows, asked)).at(-1)
        const bad = kinds.flatMap((kind, at) => (kind === 'good' ? [] : [at + 1]))
        expect(asked.rejects.map(({ line }) => line)).toEqual(bad)
        expect([state?.lines ?? 0, state?.taken ?? 0]).toEqual([kinds.length, kinds.length - bad.length])
      }),
      { numRuns: 30 },
    )
  })
})
