import { expect, test } from 'vitest'
import { accessesByMonth, plainWordsOfPath } from './accesses-by-month.ts'
import type { EntryFacts } from './facts.ts'

const NAMES = new Map([['spmis.example', 'Social assistance']])
let made = 0
const look = (at: string, more: Partial<EntryFacts & { unsent: boolean }> = {}) => ({
  id: `chain.${++made}`,
  at,
  unsent: false,
  kind: 'answer' as const,
  participant: 'spmis.example',
  operator: null,
  approved_by: null,
  registry: 'civil',
  operation: 'search',
  note: null,
  correlation_id: null,
  purpose: null,
  basis: 'law',
  consent: null,
  emergency: false,
  grant: 1,
  outcomes: {},
  records: 1,
  count: 1,
  shown: {},
  ...more,
})
const person = (...paths: string[]) => ({ shown: { Person: paths } })

test('one sentence for an institution and month, the newest first, with what the data are about', () => {
  const looks = [
    look('2025-11-30T23:59:59.000Z', person('sex')),
    look('2026-11-02T08:00:00.000Z', person('@id', 'name.surname', 'name.given_name')),
    look('2026-11-26T08:00:00.000Z', person('birth_date', 'address.locality')),
    look('2026-11-20T08:00:00.000Z', {
      ...person('demographic_info.birth_date', 'demographic_info.person.identifier_type'),
      kind: 'notification',
    }),
    look('2026-11-27T08:00:00.000Z', { participant: 'other.example', operation: 'txn-status', count: 2 }),
    look('2026-10-01T08:00:00.000Z', { participant: null, kind: 'operator', operation: null }),
  ]
  const found = accessesByMonth(looks, NAMES)
  expect(found.map(({ sentence }) => sentence)).toEqual([
    'other.example, 2 questions, last on 27 Nov 2026',
    'Social assistance, 2 searches, 1 notification, last on 26 Nov 2026: address, birth date, identifier, name',
    'An employee of the registry, or a program of it, 1 look or change, last on 1 Oct 2026',
    'Social assistance, 1 search, last on 30 Nov 2025: sex',
  ])
  expect(found[1]).toMatchObject({
    month: '2026-11',
    sender_id: 'spmis.example',
    who: 'Social assistance',
    looks: 3,
    last: '2026-11-26T08:00:00.000Z',
    data: ['address', 'birth date', 'identifier', 'name'],
    entries: [looks[2]?.id, looks[3]?.id, looks[1]?.id],
  })
  const [turned] = accessesByMonth([look('2026-11-02T08:00:00.000Z')], new Map([['spmis.example', 'A\u202e\u0000B']]))
  expect(turned).toMatchObject({ who: 'A\u202e\u0000B', sentence: 'A??B, 1 search, last on 2 Nov 2026' })
  expect(accessesByMonth([], NAMES)).toEqual([])
})

test.each([
  ['identifier.identifier_value', ['identifier']],
  ['identifier_type', ['identifier']],
  ['name.given_name', ['name', 'given name']],
  ['@id', null],
  ['address.@type', null],
])('the path %s in words', (path, words) => {
  expect(plainWordsOfPath(path)).toEqual(words)
})

test('what was not sent is named, and neither counts nor says what the data are about', () => {
  const at = '2026-11-02T08:00:00.000Z'
  const found = accessesByMonth([look(at, person('sex')), look(at, { ...person('birth_date'), unsent: true })], NAMES)
  expect(found).toMatchObject([
    { looks: 1, data: ['sex'], sentence: 'Social assistance, 1 search, 1 message that was not sent, last on 2 Nov 2026: sex' },
  ])
})
