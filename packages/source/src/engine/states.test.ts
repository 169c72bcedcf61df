import { SearchTimeout } from '@rollcall/core/model/record-source'
import { expect, test } from 'vitest'
import { connectionsOf } from './connections.ts'

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
  ['goes on where its database can', async () => undefined, false],
  ['is closed where its database cannot go on', () => Promise.reject(new Error('gone')), true],
  ['is closed where its engine knows no way', undefined, true],
])('a connection with a statement that took too long %s', async (_, goOn, isBroken) => {
  const { connections, ends, limits } = slow(goOn)
  const state = await connections.begin()
  const statement = { text: 'select 1', values: [] }
  const failed = await state.run(statement, { within: 500 }).catch((error) => error)
  expect(failed).toBeInstanceOf(SearchTimeout)
  expect(failed).toMatchObject({ seconds: 0.5 })
  await state.end()
  expect([ends, limits]).toEqual([[isBroken], [500]])
})
