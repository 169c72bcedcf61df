import { RequestFault } from '@rollcall/protocol'
import { expect, it } from 'vitest'
import { createCallSlots, type Heavy } from './call-slots.ts'

const slots = () => {
  const { take } = createCallSlots({ admin_reads: 4, account_searches: 3 })
  return (name: string, heavy?: Heavy, method: 'GET' | 'POST' = 'GET') => take({ method, heavy }, { name })
}

const refused = expect.objectContaining({
  ...{ code: 'err.request.too_many_requests', httpStatus: 429, retryAfter: 1 },
  message: 'this node works on as many such calls as it may; try again later',
})

function refusal(work: () => unknown): unknown {
  try {
    work()
  } catch (error) {
    expect(error).toBeInstanceOf(RequestFault)
    return error
  }
  return null
}

it('an operator has so many reads at a time, and others have theirs; what writes is not counted', () => {
  const take = slots()
  const ends = Array.from({ length: 4 }, () => take('amina'))
  expect(refusal(() => take('amina'))).toEqual(refused)
  expect(refusal(() => take('amina', undefined, 'POST'))).toBeNull()
  expect(refusal(() => take('bola'))).toBeNull()
  ends[0]?.()
  expect(refusal(() => take('amina'))).toBeNull()
})

it('one operator leaves a search in the accounts to the others, and all together have no more', () => {
  const take = slots()
  const [first] = [take('amina', 'accounts'), take('amina', 'accounts')]
  expect(refusal(() => take('amina', 'accounts'))).toEqual(refused)
  expect(refusal(() => take('amina'))).toBeNull()
  take('bola', 'accounts')
  expect(refusal(() => take('chidi', 'accounts'))).toEqual(refused)
  first?.()
  expect(refusal(() => take('chidi', 'accounts'))).toBeNull()
})

it('what is prunable is counted once at a time, whoever asks', () => {
  const take = slots()
  const end = take('amina', 'prunable')
  expect(refusal(() => take('amina', 'prunable'))).toEqual(refused)
  expect(refusal(() => take('bola', 'prunable'))).toEqual(refused)
  end()
  expect(refusal(() => take('bola', 'prunable'))).toBeNull()
})
