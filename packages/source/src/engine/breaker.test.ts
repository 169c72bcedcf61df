import { RecordsUnavailable } from '@rollcall/core/model/record-source'
import { expect, test } from 'vitest'
import { Breaker } from './breaker.ts'

const away = () => Promise.reject(new Error('away'))
const isAway = (error: unknown): boolean => error instanceof Error && error.message === 'away'

test('after a failure nobody asks for a while, then one, and then all again', async () => {
  let now = 0
  let asked = 0
  const breaker = new Breaker(() => now)
  const ask = (work: () => Promise<unknown>) =>
    breaker.run(() => {
      asked += 1
      return work()
    }, isAway)
  await expect(ask(away)).rejects.toThrow('away')
  await expect(ask(away)).rejects.toBeInstanceOf(RecordsUnavailable)
  expect(asked).toBe(1)
  now = 1_000
  const { promise, reject } = Promise.withResolvers<never>()
  const probe = ask(() => promise)
  await expect(ask(away)).rejects.toBeInstanceOf(RecordsUnavailable)
  expect(asked).toBe(2)
  reject(new Error('away'))
  await expect(probe).rejects.toThrow('away')
  // The second pause is twice as long.
  now = 2_500
  await expect(ask(away)).rejects.toBeInstanceOf(RecordsUnavailable)
  now = 3_000
  expect(await ask(async () => 'back')).toBe('back')
  expect(breaker.isOpen).toBe(false)
  expect(await ask(async () => 'again')).toBe('again')
})

test('an error that is not about the other side opens nothing', async () => {
  const breaker = new Breaker(() => 0)
  await expect(breaker.run(() => Promise.reject(new Error('of a statement')), isAway)).rejects.toThrow('of a statement')
  expect(breaker.isOpen).toBe(false)
})

test('work that began before a failure does not end it', async () => {
  const breaker = new Breaker(() => 0)
  const earlier = Promise.withResolvers<string>()
  const answer = breaker.run(() => earlier.promise, isAway)
  breaker.failed()
  earlier.resolve('late')
  expect(await answer).toBe('late')
  expect(breaker.isOpen).toBe(true)
})
