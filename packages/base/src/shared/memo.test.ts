import { expect, test } from 'vitest'
import { Memo } from './memo.ts'

test('a value is made once for its owner, and anew when its source has changed; the old one is released', () => {
  const released: string[] = []
  const memo = new Memo<{ name: string }>(({ name }) => released.push(name))
  const of = (owner: number, source: string, name: string) => memo.of(owner, source, () => ({ name })).name
  expect(of(1, 'x', 'first')).toBe('first')
  expect(of(1, 'x', 'again')).toBe('first')
  expect(of(2, 'x', 'other')).toBe('other')
  expect(released).toEqual([])
  expect(of(1, 'y', 'second')).toBe('second')
  expect(released).toEqual(['first'])
  memo.forget(2)
  expect(released).toEqual(['first', 'other'])
  expect(memo.clear()).toEqual([{ name: 'second' }])
  expect(released).toEqual(['first', 'other', 'second'])
})

test('owners beyond the bound are forgotten, those that were not asked for longest first', () => {
  const released: number[] = []
  const memo = new Memo<{ owner: number }>(({ owner }) => released.push(owner))
  for (let owner = 0; owner < 10_002; owner += 1) memo.of(owner, '', () => ({ owner }))
  expect(released).toEqual([0, 1])
})
