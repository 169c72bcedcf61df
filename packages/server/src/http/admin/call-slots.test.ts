import { expect, it } from 'vitest'
import { createCallSlots, type HeavyCall } from './call-slots.ts'

const slots = () => {
  const { take } = createCallSlots({ admin_reads: 4, admin_reads_at_once: 3, audit_searches: 3 })
  return (name: string, heavy?: HeavyCall, method: 'GET' | 'POST' = 'GET') => take({ method, heavy }, { name })
}

const refused = {
  code: 'err.request.too_many_requests',
  httpStatus: 429,
  retryAfter: 1,
  message: 'this node works on as many such calls as it may; try again later',
}

it('an operator has so many reads at a time; more wait in their order, and too many are refused', async () => {
  const take = slots()
  const begun: string[] = []
  const noted = async (name: string) => {
    const end = await take('amina')
    begun.push(name)
    return end
  }
  const calls = ['first', 'second', 'third', 'fourth'].map(noted)
  const [first, second] = await Promise.all(calls.slice(0, 3))
  expect(begun).toEqual(['first', 'second', 'third'])
  await expect(take('amina')).rejects.toMatchObject(refused)
  // Others have theirs, and what writes is not counted.
  await take('bola')
  await take('amina', undefined, 'POST')
  first?.()
  await calls[3]
  expect(begun).toEqual(['first', 'second', 'third', 'fourth'])
  second?.()
  await take('amina')
})

it('of those that wait each begins once', async () => {
  const take = slots()
  const ends = await Promise.all([take('amina'), take('amina'), take('amina')])
  const waiting = take('amina')
  for (const end of ends) end()
  const last = await waiting
  last()
  // As if there had been none.
  await Promise.all([take('amina'), take('amina'), take('amina')])
})

it('one operator leaves a search in the audit log to the others, and all together have no more', async () => {
  const take = slots()
  const [first] = await Promise.all([take('amina', 'auditLog'), take('amina', 'auditLog')])
  await expect(take('amina', 'auditLog')).rejects.toMatchObject(refused)
  await take('amina')
  await take('bola', 'auditLog')
  await expect(take('chidi', 'auditLog')).rejects.toMatchObject(refused)
  first?.()
  await take('chidi', 'auditLog')
})

it('a source is checked once at a time by an operator, and by two at a time', async () => {
  const take = slots()
  await take('amina', 'sources', 'POST')
  await expect(take('amina', 'sources', 'POST')).rejects.toMatchObject(refused)
  await take('bola', 'sources', 'POST')
  await expect(take('chidi', 'sources', 'POST')).rejects.toMatchObject(refused)
})

it('what is prunable is counted once at a time, whoever asks', async () => {
  const take = slots()
  const end = await take('amina', 'prunable')
  await expect(take('amina', 'prunable')).rejects.toMatchObject(refused)
  await expect(take('bola', 'prunable')).rejects.toMatchObject(refused)
  end()
  await take('bola', 'prunable')
})
