import { expect, it } from 'vitest'
import { changedFormMembers, FormValues } from './form-values.ts'

function values(entries: Readonly<Record<string, string>>): FormValues {
  const given = new FormData()
  for (const [name, value] of Object.entries(entries)) given.append(name, value)
  return new FormValues(given)
}

it('an empty field is not given, or takes away what was there', () => {
  const empty = values({ name: '  ' })
  expect(empty.text('name')).toBe(undefined)
  expect(empty.textOrNull('name')).toBe(null)
  expect([empty.number('name'), empty.limit('name'), empty.time('name')]).toEqual([undefined, null, undefined])
  expect([empty.lines('name'), empty.ticked('other'), empty.flag('other')]).toEqual([[], [], false])
})

it('reads what was filled in as what the call takes', () => {
  const given = values({ name: ' Ministry ', most: '20', rate: 'unlimited', lines: 'a\n\n b \n', on: 'on' })
  expect(given.text('name')).toBe('Ministry')
  expect([given.number('most'), given.limit('most'), given.limit('rate')]).toEqual([20, 20, 'unlimited'])
  expect(given.lines('lines')).toEqual(['a', 'b'])
  expect(given.flag('on')).toBe(true)
})

it('a text that is no number is refused, and removes no limit', () => {
  const given = values({ rate: '10O', most: 'Infinity' })
  for (const name of ['rate', 'most']) {
    expect(() => given.number(name)).toThrow('is not a number.')
    expect(() => given.limit(name)).toThrow('is not a number.')
  }
  expect(() => given.limit('rate')).toThrow('“10O” is not a number.')
})

it('a choice is one of the list, or none', () => {
  const given = values({ use: 'sig', kind: 'cows' })
  expect(given.choice('use', ['sig', 'enc'])).toBe('sig')
  expect(given.choice('kind', ['civil'])).toBe(undefined)
})

it('reads the object of a JSON text, and says where there is none', () => {
  const given = values({ record: '{"a": [1]}', list: '[]', nothing: 'null', broken: '{' })
  expect(given.object('record')).toEqual({ a: [1] })
  for (const name of ['list', 'nothing', 'broken', 'absent']) {
    expect(() => given.object(name)).toThrow('The text is no JSON object.')
  }
})

it('a member that the form shows as it was is not sent: somebody else may have changed it meanwhile', () => {
  const shown = { url: 'https://old.example', most: null, algorithms: ['EdDSA'], schedule: [1, 2], auth: 'none' }
  expect(changedFormMembers({ url: 'https://old.example', most: null, algorithms: ['EdDSA'], schedule: [1, 2] }, shown)).toEqual(
    {},
  )
  expect(changedFormMembers({ url: null, most: 0, algorithms: ['EdDSA', 'ES256'], schedule: null }, shown)).toEqual({
    url: null,
    most: 0,
    algorithms: ['EdDSA', 'ES256'],
    schedule: null,
  })
})
