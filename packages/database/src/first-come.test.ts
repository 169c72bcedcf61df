import { describe, expect, it } from 'vitest'
import { createOneRowPerKeyStore } from './group-commit.ts'

interface Entry {
  readonly key: string
  readonly value: number
}

/** A table in memory, in which the rows named in `vanish` are gone as soon as they are looked for. */
function table(vanish: { times: number }) {
  const rows = new Map<string, number>([['there', 1]])
  const orders: string[][] = []
  return {
    rows,
    orders,
    key: ({ key }: Entry) => key,
    stored: ({ value }: Entry) => value,
    async insert(entries: readonly Entry[]) {
      orders.push(entries.map(({ key }) => key))
      const added = entries.filter(({ key }) => !rows.has(key))
      for (const { key, value } of added) rows.set(key, value)
      return added.map(({ key }) => key)
    },
    async find(entries: readonly Entry[]) {
      if (vanish.times-- > 0) {
        // Another caller's row, deleted; and in the endless case one that comes back each time.
        for (const { key } of entries) rows.delete(key)
        if (vanish.times > 5) for (const { key } of entries) rows.set(key, 9)
        return new Map<string, number>()
      }
      return new Map(entries.map(({ key }) => [key, rows.get(key) as number]))
    },
  }
}

describe('firstCome', () => {
  it('writes in the order of keys, whatever order they came in', async () => {
    const made = table({ times: 0 })
    const memory = createOneRowPerKeyStore(made, { waiting: 10 })
    const keys = ['first', 'c', 'a', 'there', 'b', 'a']
    const answers = await Promise.all(keys.map((key, value) => memory.remember({ key, value })))
    expect(made.orders).toEqual([['a', 'b', 'c', 'first', 'there']])
    expect(answers).toEqual([
      { first: true, stored: 0 },
      { first: true, stored: 1 },
      { first: true, stored: 2 },
      { first: false, stored: 1 },
      { first: true, stored: 4 },
      { first: false, stored: 2 },
    ])
  })

  it('what is large has a statement of its own, and small ones do not wait for it', async () => {
    const made = table({ times: 0 })
    let release = (): void => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const insert = async (entries: readonly Entry[]) => {
      if (entries.some(({ value }) => value >= 262_144)) await held
      return made.insert(entries)
    }
    const memory = createOneRowPerKeyStore({ ...made, insert, bytes: ({ value }: Entry) => value }, { waiting: 10 })
    const large = ['l1', 'l2'].map((key) => memory.remember({ key, value: 262_144 }))
    await Promise.all(['s1', 's2', 's3'].map((key) => memory.remember({ key, value: 262_143 })))
    expect(made.orders).toEqual([['s1', 's2', 's3']])
    release()
    await Promise.all(large)
    expect(made.orders.slice(1)).toEqual([['l1'], ['l2']])
    expect(await memory.remember({ key: 'l1', value: 1 })).toEqual({ first: false, stored: 262_144 })
  })

  it('the same object handed in twice is first once', async () => {
    const memory = createOneRowPerKeyStore(table({ times: 0 }), { waiting: 10 })
    const duplicate = { key: 'duplicate', value: 1 }
    void memory.remember({ key: 'other', value: 0 })
    const answers = await Promise.all([memory.remember(duplicate), memory.remember(duplicate)])
    expect(answers.map(({ first }) => first)).toEqual([true, false])
  })

  it('inserts again when the row was deleted before it was read', async () => {
    const memory = createOneRowPerKeyStore(table({ times: 1 }), { waiting: 10 })
    expect(await memory.remember({ key: 'there', value: 5 })).toEqual({ first: true, stored: 5 })
  })

  it('gives up when rows vanish again and again', async () => {
    const memory = createOneRowPerKeyStore(table({ times: 100 }), { waiting: 10 })
    await expect(memory.remember({ key: 'there', value: 5 })).rejects.toThrow(
      'rows are deleted again and again while they are read',
    )
  })
})
