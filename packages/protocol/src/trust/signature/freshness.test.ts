import { describe, expect, test } from 'vitest'
import { checkFreshness, type Freshness } from './freshness.ts'
import { SignatureProblem } from './problem.ts'

const NOW = 1_767_225_600
const own: Freshness = { profile: { layout: 'parameters' }, created: NOW, expires: NOW + 300, message_ts: undefined, now: NOW }
const byMessage: Freshness = {
  profile: { layout: 'raw-rsa' },
  created: null,
  expires: null,
  message_ts: '2026-01-01T01:00:00.5+01:00',
  now: NOW,
}

const invalid = (rule: string) => new SignatureProblem('invalid', rule)

describe('layouts that expire', () => {
  test.each<[string, Partial<Freshness>]>([
    ['now', {}],
    ['created is 60 s ahead', { now: NOW - 60 }],
    ['expired 60 s ago', { now: NOW + 360 }],
    ['an hour', { expires: NOW + 3600 }],
    ['a smaller skew', { now: NOW - 5, skew: 5 }],
    ['message_ts is not looked at', { message_ts: 'long ago' }],
  ])('%s', (_, change) => {
    expect(() => checkFreshness({ ...own, ...change })).not.toThrow()
  })

  test.each<[string, Partial<Freshness>]>([
    ['created is in the future', { now: NOW - 60.5 }],
    ['created is in the future', { now: NOW - 6, skew: 5 }],
    ['the signature has expired', { now: NOW + 360.5 }],
    ['the signature has expired', { now: NOW + 301, skew: 0 }],
    ['expires must be later than created', { expires: NOW }],
    ['created and expires must be at most one hour apart', { expires: NOW + 3601 }],
    ['the signature has no times', { created: null }],
    ['the signature has no times', { expires: null }],
  ])('%s: %o', (rule, change) => {
    expect(() => checkFreshness({ ...own, ...change })).toThrow(invalid(rule))
  })
})

describe('layouts that do not', () => {
  test.each<[string, Partial<Freshness>]>([
    ['now', {}],
    ['24 hours old', { now: NOW + 86_400 }],
    ['5 minutes ahead', { now: NOW - 299 }],
    ['a result without a zone', { message_ts: '2026-01-01T00:00:00.512304', result: true }],
    ['a result with a space', { message_ts: '2026-01-01 00:00:00', result: true }],
    ['a result with a zone without colon', { message_ts: '2026-01-01T01:00:00+0100', result: true }],
    ['96 hours old on a callback path', { now: NOW + 4 * 86_400, callback: true }],
  ])('%s', (_, change) => {
    expect(() => checkFreshness({ ...byMessage, ...change })).not.toThrow()
  })

  test.each<[string, Partial<Freshness>]>([
    ['message_ts is too old for a signature without expiry', { now: NOW + 86_401 }],
    ['message_ts is too old for a signature without expiry', { now: NOW + 4 * 86_400 + 1, callback: true }],
    ['message_ts is in the future', { now: NOW - 300 }],
    ['message_ts is in the future', { now: NOW - 300, callback: true }],
    ['message_ts must be a date-time with a time zone', { message_ts: '2026-01-01T00:00:00' }],
    ['message_ts must be a date-time with a time zone', { message_ts: '2026-01-01 00:00:00' }],
    ['message_ts must be a date-time with a time zone', { message_ts: '2026-01-01T00:00:00+0000' }],
    ['message_ts must be a date-time with a time zone', { message_ts: '2026-01-01', result: true }],
    ['message_ts must be a date-time with a time zone', { message_ts: NOW }],
    ['message_ts must be a date-time with a time zone', { message_ts: undefined }],
  ])('%s: %o', (rule, change) => {
    expect(() => checkFreshness({ ...byMessage, ...change })).toThrow(invalid(rule))
  })
})
