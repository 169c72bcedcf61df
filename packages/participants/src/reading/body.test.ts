import { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { memoryInUse } from '../../../base/test/memory.ts'
import { readBodyText } from './body.ts'

it('a body in single bytes takes little more memory than its bytes', async () => {
  const length = 200_000
  const before = memoryInUse()
  let most = 0
  function* bytes() {
    for (let count = 0; count < length; count += 1) yield Buffer.from('x')
    most = memoryInUse()
  }
  expect(await readBodyText(Readable.from(bytes()), length)).toBe('x'.repeat(length))
  expect(most - before).toBeLessThan(10_000_000)
})
