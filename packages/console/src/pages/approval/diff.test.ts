import { expect, test } from 'vitest'
import { APPROVABLE_ACTS } from '../../../../admin/src/approvals/acts.ts'
import { approvalMeaning } from '../../texts/approvals.ts'
import { diffSubjectText, findScalarListText, isUnchangedLine } from './diff.ts'

test('what an act is about is told from what it changes', () => {
  const diff = [
    { at: 'sender_id', from: 'spmis.example', to: 'spmis.example' },
    { at: 'ids', from: 3, to: 3 },
    { at: 'see', from: ['name'], to: ['name', 'birth_date'] },
    { at: 'beside', from: { a: 1 }, to: { a: 1 } },
  ]
  expect(diff.map(isUnchangedLine)).toEqual([true, true, false, true])
  expect(diffSubjectText(diff)).toBe('spmis.example, 3')
  expect(diffSubjectText([{ at: 'name', from: null, to: 'eve' }])).toBe('eve')
  expect(diffSubjectText([{ at: 'purposes.pension', from: null, to: { text: null } }])).toBe('purposes.pension')
  expect(diffSubjectText([])).toBe('')
})

test('a list of plain values is one line', () => {
  expect([['a', 'b'], ['a'], [], 'a', { a: 1 }, [{ a: 1 }], [null], null].map(findScalarListText)).toEqual([
    ...['a, b', 'a', null, null, null, null, null, null],
  ])
})

test('each act that waits has its meaning', () => {
  const waiting = APPROVABLE_ACTS.map(({ act }) => act.name).filter((name) => name !== 'operator link')
  expect(waiting.filter((name) => approvalMeaning(name) === null)).toEqual([])
  expect(approvalMeaning('of a later version')).toBe(null)
  expect(approvalMeaning('constructor')).toBe(null)
})
