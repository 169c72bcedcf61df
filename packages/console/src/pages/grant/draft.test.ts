import { expect, it } from 'vitest'
import {
  changedMembers,
  draftText,
  findNameGrantingAttribute,
  grantedNames,
  isGrantedName,
  readDraftNumber,
  sortMembers,
  toggleName,
  withMember,
} from './draft.ts'

it('a member that is not given means what the server takes it for', () => {
  expect(grantedNames({}, 'record_types')).toBe('all')
  expect(grantedNames({}, 'query_forms')).toEqual(['identifier'])
  expect(grantedNames({}, 'ask')).toEqual([])
  expect(grantedNames({ see: 'all' }, 'see')).toBe('all')
})

it('takes one name away from all, and gives it back', () => {
  const known = ['a', 'b']
  expect(toggleName('all', 'a', known)).toEqual(['b'])
  expect(toggleName(['b'], 'a', known)).toEqual(['b', 'a'])
  expect([isGrantedName('all', 'z'), isGrantedName(['a'], 'z')]).toEqual([true, false])
})

it('finds the other name by which an attribute is granted: an alias, or the member in which it stands', () => {
  const surname = { aliases: ['family_name'], paths: ['name.surname', 'surname'] }
  expect(findNameGrantingAttribute(['birth_date', 'name'], 'see', surname)).toBe('name')
  expect(findNameGrantingAttribute(['family_name'], 'ask', surname)).toBe('family_name')
  expect(findNameGrantingAttribute(['name'], 'ask', surname)).toBeUndefined()
  expect(findNameGrantingAttribute(['nam', 'name.surnames'], 'see', surname)).toBeUndefined()
  expect(findNameGrantingAttribute('all', 'see', surname)).toBeUndefined()
})

it('says what changes, and not that names stand in another order', () => {
  const before = { operations: ['search', 'subscribe'], basis: 'law', counts: 'exact' }
  const after = { operations: ['subscribe', 'search'], basis: 'consent', see: 'all' }
  expect(changedMembers(before, after)).toEqual([
    { member: 'basis', before: 'law', after: 'consent' },
    { member: 'counts', before: 'exact', after: undefined },
    { member: 'see', before: undefined, after: 'all' },
  ])
  expect(withMember({ basis: 'law', counts: 'none' }, 'counts', undefined)).toEqual({ basis: 'law' })
})

it.each([
  ['', undefined],
  [' 12 ', 12],
  ['many', 'many'],
])('reads %j as the number %j; the server says what is wrong', (text, value) => {
  expect(readDraftNumber(text)).toBe(value)
})

it('writes values for people', () => {
  expect([draftText(['a', 'b']), draftText([]), draftText('law'), draftText(3), draftText(undefined)]).toEqual([
    ...['a, b', '–', 'law', '3', undefined],
  ])
})

it('orders the members of a document, and leaves lists as they are', () => {
  expect(JSON.stringify(sortMembers({ b: [{ d: 1, c: null }, 'x', 'a'], a: true }))).toBe(
    '{"a":true,"b":[{"c":null,"d":1},"x","a"]}',
  )
})
