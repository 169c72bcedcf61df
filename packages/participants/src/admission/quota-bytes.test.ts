import { expect, it } from 'vitest'
import { createBodyByteCounter } from './quota.ts'

const [ADA, BO, CAI] = [1, 2, 3] as const

it('half of the bytes are for one participant at most, and all for all', () => {
  const { begin, share } = createBodyByteCounter(101)
  expect(share).toBe(50)
  const [one, two, other] = [begin(ADA), begin(ADA), begin(BO)]
  expect([one.add(30), two.add(21), two.add(20), two.add(1)]).toEqual(['held', 'participant', 'held', 'participant'])
  expect([other.add(52), other.add(51), begin(CAI).add(1)]).toEqual(['total', 'held', 'total'])
  one.release()
  one.release()
  expect([begin(CAI).add(30), two.add(1)]).toEqual(['held', 'total'])
})

it('an answer counts for as many bytes as are left of the share of its participant', () => {
  const { begin } = createBodyByteCounter(100)
  const [one, two, other] = [begin(ADA), begin(ADA), begin(BO)]
  one.add(20)
  one.addAnswer(1_000)
  two.addAnswer(1_000)
  expect([two.add(1), other.add(50), other.add(1)]).toEqual(['participant', 'held', 'total'])
  two.release()
  one.release()
  expect([two.add(50), other.add(1)]).toEqual(['held', 'total'])
})

it('what is alone may hold what it likes: of its participant, and of all', () => {
  const { begin } = createBodyByteCounter(100)
  const large = begin(ADA)
  expect([large.add(500), large.add(500)]).toEqual(['held', 'held'])
  expect(begin(BO).add(1)).toBe('total')
  large.release()
  const small = begin(BO)
  expect([small.add(20), begin(ADA).add(81), large.add(80), begin(BO).add(1)]).toEqual(['held', 'total', 'held', 'total'])
})
