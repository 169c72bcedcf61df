import { expect, it } from 'vitest'
import { memoryInUse } from '../../test/memory.ts'
import { LineCutter } from './lines.ts'

it('a line that comes in single bytes takes little more memory than its bytes', () => {
  const cutter = new LineCutter(1_000_000, { line: 0, bytes: 0 })
  const before = memoryInUse()
  for (let count = 0; count < 200_000; count += 1) cutter.push(Buffer.from('x'))
  expect(memoryInUse() - before).toBeLessThan(5_000_000)
  expect(cutter.push(Buffer.from('\ny'))).toEqual([{ line: 1, end: 200_001, bytes: Buffer.alloc(200_000, 'x') }])
  expect(cutter.finish()).toEqual([{ line: 2, end: 200_002, bytes: Buffer.from('y') }])
})
