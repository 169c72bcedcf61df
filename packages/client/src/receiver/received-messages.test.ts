import fc from 'fast-check'
import { expect, it } from 'vitest'
import { rememberInMemory } from './received-messages.ts'

const key = (message_id: string, sender_id = 'a.example') => ({ sender_id, message_id })

it('a message is claimed once, done or released', async () => {
  const memory = rememberInMemory()
  expect(await memory.claim(key('1'))).toBe('claimed')
  expect(await memory.claim(key('1'))).toBe('busy')
  await memory.release(key('1'))
  expect(await memory.claim(key('1'))).toBe('claimed')
  await memory.done(key('1'))
  expect(await memory.claim(key('1'))).toBe('done')
  expect(await memory.claim(key('1', 'b.example'))).toBe('claimed')
})

it('what is old is forgotten', async () => {
  let now = 0
  const memory = rememberInMemory({ age: 1_000, now: () => now })
  await memory.claim(key('1'))
  await memory.done(key('1'))
  now = 999
  expect(await memory.claim(key('1'))).toBe('done')
  now = 1_000
  expect(await memory.claim(key('1'))).toBe('claimed')
})

it('a message is remembered while its registry may still send it', async () => {
  let now = 0
  const memory = rememberInMemory({ now: () => now })
  await memory.claim(key('1'))
  await memory.done(key('1'))
  now = 14 * 86_400_000
  expect(await memory.claim(key('1'))).toBe('done')
})

it('no more are remembered than allowed, and what is being handled is never forgotten', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 20 }), fc.integer({ min: 1, max: 60 }), async (bound, count) => {
      const memory = rememberInMemory({ messages: bound })
      await memory.claim(key('running'))
      for (let index = 0; index < count; index += 1) {
        await memory.claim(key(String(index)))
        await memory.done(key(String(index)))
      }
      expect(await memory.claim(key('running'))).toBe('busy')
      expect(await memory.claim(key(String(count - 1)))).toBe('done')
      const oldest = await memory.claim(key('0'))
      expect(oldest).toBe(count > bound ? 'claimed' : 'done')
    }),
    { numRuns: 50 },
  )
})
