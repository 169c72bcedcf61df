import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { StoreBusy } from './database-errors.ts'
import { createGroupCommit } from './group-commit.ts'

/** A write whose statements end when the test says so; it answers each number doubled. */
function slowWrite() {
  const groups: number[][] = []
  const ends: (() => void)[] = []
  let running = 0
  let most = 0
  return {
    groups,
    most: () => most,
    end: () => ends.shift()?.(),
    async write(entries: readonly number[]): Promise<number[]> {
      groups.push([...entries])
      running += 1
      most = Math.max(most, running)
      await new Promise<void>((resolve) => ends.push(resolve))
      running -= 1
      return entries.map((entry) => entry * 2)
    },
  }
}

/** Waits two turns of the event loop: in the first, the end of a statement lets callers hand in their next entries. */
const settled = async () => {
  await nextTurn()
  await nextTurn()
}

describe('groupCommit', () => {
  it('sends together what came in one turn of the event loop, and what came during a statement, in their order', async () => {
    const slow = slowWrite()
    const commits = createGroupCommit(slow.write, { waiting: 10 })
    const first = [commits.submit(1), Promise.resolve().then(() => commits.submit(2))]
    expect(slow.groups).toEqual([])
    await settled()
    expect(slow.groups).toEqual([[1, 2]])
    const rest = [commits.submit(3), commits.submit(4)]
    slow.end()
    expect(await Promise.all(first)).toEqual([2, 4])
    // Who waited for the first statement is in the second.
    rest.push(commits.submit(5))
    await settled()
    expect(slow.groups).toEqual([
      [1, 2],
      [3, 4, 5],
    ])
    slow.end()
    expect(await Promise.all(rest)).toEqual([6, 8, 10])
    expect(slow.most()).toBe(1)

    const later = commits.submit(6)
    await settled()
    slow.end()
    expect(await later).toBe(12)
  })

  it('puts at most 500 into one statement', async () => {
    const sizes: number[] = []
    const commits = createGroupCommit<number, number>(
      async (entries) => {
        sizes.push(entries.length)
        await settled()
        return entries
      },
      { waiting: 2_000 },
    )
    const numbers = Array.from({ length: 1_101 }, (_, index) => index)
    expect(await Promise.all(numbers.map((number) => commits.submit(number)))).toEqual(numbers)
    expect(sizes).toEqual([500, 500, 101])
  })

  it('refuses what would wait beyond the limit, and takes more once there is room', async () => {
    const slow = slowWrite()
    const commits = createGroupCommit(slow.write, { waiting: 2 })
    const taken = [commits.submit(1)]
    await settled()
    taken.push(commits.submit(2), commits.submit(3))
    await expect(commits.submit(4)).rejects.toThrow(new StoreBusy())
    slow.end()
    await settled()
    taken.push(commits.submit(5))
    slow.end()
    await settled()
    slow.end()
    expect(await Promise.all(taken)).toEqual([2, 4, 6, 10])
  })

  it('lets one bad entry fail alone', async () => {
    let statements = 0
    const commits = createGroupCommit<number, number>(
      async (entries) => {
        statements += 1
        await settled()
        if (entries.includes(13)) throw new Error('13 is bad')
        return entries
      },
      { waiting: 100 },
    )
    const numbers = Array.from({ length: 65 }, (_, index) => index)
    const results = await Promise.allSettled(numbers.map((number) => commits.submit(number)))
    const failed = results.filter(({ status }) => status === 'rejected')
    expect(failed).toEqual([{ status: 'rejected', reason: new Error('13 is bad') }])
    expect(results[13]).toBe(failed[0])
    expect(results[64]).toEqual({ status: 'fulfilled', value: 64 })
    expect(statements).toBe(1 + 2 * 6)
  })

  it('fails all of a statement at once when the database is away', async () => {
    let statements = 0
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    const commits = createGroupCommit<number, number>(
      async () => {
        statements += 1
        await settled()
        throw away
      },
      { waiting: 100 },
    )
    const results = await Promise.allSettled([1, 2, 3, 4].map((number) => commits.submit(number)))
    expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual(Array(4).fill(away))
    expect(statements).toBe(1)
  })

  it.each([
    { failWaiting: false, expected: 3 },
    { failWaiting: true, expected: 1 },
  ])('when the database is away, $expected statements are made for five entries with $failWaiting', async (row) => {
    let statements = 0
    const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
    const commits = createGroupCommit<number, number>(
      async (entries) => {
        statements += 1
        await settled()
        if (entries.includes(9)) return entries
        throw away
      },
      { waiting: 100, together: 2, failWaiting: row.failWaiting },
    )
    const results = await Promise.allSettled([1, 2, 3, 4, 5].map((number) => commits.submit(number)))
    expect(results.map((result) => result.status === 'rejected' && result.reason)).toEqual(Array(5).fill(away))
    expect(statements).toBe(row.expected)
    expect(await commits.submit(9)).toBe(9)
  })
})
