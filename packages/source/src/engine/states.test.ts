import { RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { afterEach, expect, test, vi } from 'vitest'
import { connectionsOf } from './connections.ts'

afterEach(() => void vi.useRealTimers())

const statement = { text: 'select 1', values: [] }

/** A database in which every statement takes too long. */
function slow(goOn?: () => Promise<unknown>) {
  const ends: boolean[] = []
  const limits: number[] = []
  const connections = connectionsOf<number>(
    { pool: 1, statementTimeout: 2_000 },
    {
      begin: async () => ({
        isLimited: true,
        run(_, { time }) {
          limits.push(time)
          return Promise.reject(new Error('slow'))
        },
        ...(goOn && { goOn }),
        end: async (isBroken) => {
          ends.push(isBroken)
        },
      }),
      failureOf: () => ({ is: 'timeout', code: '57014' }),
      close: async () => undefined,
    },
  )
  return { connections, ends, limits }
}

test.each([
  ['goes on where its database can', async () => undefined, false, false],
  ['is closed where its database cannot go on, which is away', () => Promise.reject(new Error('gone')), true, true],
  ['is closed where its engine knows no way', undefined, true, false],
])('a connection with a statement that took too long %s', async (_, goOn, isBroken, isAway) => {
  const { connections, ends, limits } = slow(goOn)
  const state = await connections.begin()
  const failed = await state.run(statement, { within: 500 }).catch((error) => error)
  expect(failed).toBeInstanceOf(SearchTimeout)
  expect(failed).toMatchObject({ seconds: 0.5 })
  await state.end()
  expect([ends, limits]).toEqual([[isBroken], [500]])
  expect(connections.isAway()).toBe(isAway)
})

test('a database that was away is back when it has answered, and not when the pool gives a connection', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  let isLost = true
  const ends: boolean[] = []
  const connections = connectionsOf<number>(
    { pool: 2, statementTimeout: 2_000 },
    {
      begin: async () => ({
        isLimited: true,
        run: async () => {
          if (isLost) throw new Error('lost')
          return { rows: [], types: [], names: [] }
        },
        end: async (isBroken) => void ends.push(isBroken),
      }),
      failureOf: () => ({ is: 'away', code: 'ECONNRESET' }),
      close: async () => undefined,
    },
  )
  const state = await connections.begin()
  await expect(state.run(statement)).rejects.toBeInstanceOf(RecordsUnavailable)
  await state.end()
  expect(connections.isAway()).toBe(true)
  vi.advanceTimersByTime(1_000)
  await expect(connections.begin()).rejects.toMatchObject({
    name: 'RecordsUnavailable',
    message: 'the database of the records is away',
    cause: { message: 'lost' },
  })
  expect([connections.isAway(), ends]).toEqual([true, [true, true]])
  isLost = false
  // The second pause is twice as long: nobody asks meanwhile.
  vi.advanceTimersByTime(1_999)
  await expect(connections.begin()).rejects.toMatchObject({ name: 'RecordsUnavailable', cause: null })
  vi.advanceTimersByTime(1)
  const answered = await connections.begin()
  expect(connections.isAway()).toBe(false)
  await answered.end()
  expect(ends).toEqual([true, true, false])
})
