import { expect, it } from 'vitest'
import { memoryInUse } from '../../test/memory.ts'
import { ByteCollector } from './pieces.ts'

it('gives the bytes in their order, also before the end', () => {
  const pieces = new ByteCollector()
  expect(pieces.bytes()).toEqual(Buffer.alloc(0))
  const only = Buffer.from('a')
  pieces.push(only)
  expect(pieces.bytes()).toBe(only)
  for (let at = 1; at < 5_000; at += 1) pieces.push(Buffer.from([at % 251]))
  expect(pieces.bytes()).toEqual(Buffer.from([97, ...Array.from({ length: 4_999 }, (_, at) => (at + 1) % 251)]))
})

it('takes little more memory than its bytes', () => {
  const pieces = new ByteCollector()
  const before = memoryInUse()
  for (let count = 0; count < 200_000; count += 1) pieces.push(Buffer.from('x'))
  expect(memoryInUse() - before).toBeLessThan(5_000_000)
  expect(pieces.bytes()).toHaveLength(200_000)
})
