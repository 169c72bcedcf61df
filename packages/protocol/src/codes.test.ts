import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { CODES, type CodePlace, codesOf, httpStatusOf } from './codes.ts'

const PLACES: CodePlace[] = ['ack', 'header', 'search', 'subscribe', 'unsubscribe']

test('every place has exactly the codes of the protocol', () => {
  expect(Object.fromEntries(PLACES.map((place) => [place, codesOf(place)]))).toEqual({
    ack: [
      'err.request.bad',
      'err.request.unauthorized',
      'err.request.forbidden',
      'err.request.not_found',
      'err.request.timeout',
      'err.version.not_supported',
      'err.request.too_many_requests',
      'err.sender_id.invalid',
      'err.sender_uri.invalid',
      'err.receiver_id.invalid',
      'err.signature.missing',
      'err.signature.invalid',
      'err.encryption.invalid',
      'err.service.unavailable',
    ],
    header: [
      'rjct.version.invalid',
      'rjct.message_id.duplicate',
      'rjct.message_ts.invalid',
      'rjct.action.invalid',
      'rjct.action.not_supported',
      'rjct.total_count.invalid',
      'rjct.total_count.limit_exceeded',
      'rjct.errors.too_many',
    ],
    search: [
      'rjct.reference_id.invalid',
      'rjct.reference_id.duplicate',
      'rjct.timestamp.invalid',
      'rjct.search_criteria.invalid',
      'rjct.filter.invalid',
      'rjct.sort.invalid',
      'rjct.pagination.invalid',
      'rjct.search.too_many_records_found',
    ],
    subscribe: [
      'rjct.reference_id.invalid',
      'rjct.reference_id.duplicate',
      'rjct.timestamp.invalid',
      'rjct.notify_types.invalid',
      'rjct.notify_details.invalid',
      'rjct.person_id.invalid',
      'rjct.event.already_subscribed',
    ],
    unsubscribe: [
      'rjct.reference_id.invalid',
      'rjct.reference_id.duplicate',
      'rjct.timestamp.invalid',
      'rjct.subscription_code.invalid',
      'rjct.requester.invalid',
      'rjct.event.already_unsubscribed',
    ],
  })
})

test('no code stands twice in one place', () => {
  const seen = CODES.map((row) => `${row.where} ${row.code}`)
  expect(new Set(seen).size).toBe(seen.length)
})

test('only ack codes have an HTTP status, and all of them have one', () => {
  for (const row of CODES) expect('http_status' in row, row.code).toBe(row.where === 'ack')
  expect(httpStatusOf('err.request.bad')).toBe(400)
  expect(httpStatusOf('err.sender_id.invalid')).toBe(403)
  expect(httpStatusOf('err.service.unavailable')).toBe(503)
})

test('every meaning is one plain sentence', () => {
  for (const row of CODES) expect(row.meaning, row.code).toMatch(/^[A-Z][^.]*\.$/)
})

describe('docs/codes.md', () => {
  const doc = readFileSync(new URL('../../../docs/codes.md', import.meta.url), 'utf8')
  const sections = doc.split(/^## /m).slice(1)

  test.each(PLACES)('lists the %s codes of the table, in its order, with its HTTP statuses and meanings', (place) => {
    const section = sections.find((text) => text.includes(`(\`${place}\`)`)) ?? ''
    const rows = [...section.matchAll(/^\| `([a-z_.]+)` \|(.*)\|$/gm)].map(([, code, rest = '']) => ({
      code,
      cells: rest.split('|').map((cell) => cell.trim()),
    }))
    const expected = CODES.filter((row) => row.where === place)
    expect(rows.map((row) => row.code)).toEqual(expected.map((row) => row.code))
    for (const [index, row] of expected.entries()) {
      const cells = rows[index]?.cells ?? []
      if ('http_status' in row) expect(cells.shift(), row.code).toBe(String(row.http_status))
      expect(cells, row.code).toEqual([row.meaning])
    }
  })

  test('names no code that the table does not have', () => {
    const known = new Set<string>(CODES.map((row) => row.code))
    const named = [...doc.matchAll(/`((?:err|rjct)\.[a-z_.]+)`/g)].map((match) => match[1] ?? '')
    expect(named.filter((code) => !known.has(code))).toEqual([])
  })
})
