import { describe, expect, test } from 'vitest'
import { readTokenAnswer, TokenProblem } from './token-answer.ts'

const answer = (members: object): string => JSON.stringify({ access_token: 't', ...members })

describe('how long a token may be used', () => {
  test.each([
    ['a hundred seconds', { expires_in: 100 }, 90_000, 100_000],
    ['said as a text', { expires_in: '100' }, 90_000, 100_000],
    ['an hour: the last minute is left', { expires_in: 3_600 }, 3_540_000, 3_600_000],
    ['a year is believed to be a day', { expires_in: 31_536_000 }, 86_340_000, 86_400_000],
    ['not said: a minute', {}, 54_000, 60_000],
    ['none', { expires_in: 0 }, 54_000, 60_000],
    ['no number', { expires_in: 'soon' }, 54_000, 60_000],
    ['an object', { expires_in: { valueOf: 1, toString: 1 } }, 54_000, 60_000],
  ])('%s', (_name, members, fresh, usable) => {
    expect(readTokenAnswer(200, answer(members))).toEqual({ value: 't', fresh, usable })
  })
})

describe('there is no token', () => {
  const AWAY = 'the token endpoint does not answer at the moment'
  const UNREADABLE = 'the answer of the token endpoint holds no access_token'
  test.each([
    ['away', 503, '{}', AWAY, ''],
    ['away', 429, '{}', AWAY, ''],
    ['refused', 401, '{"error":"invalid_client","error_description":"wrong"}', 'wrong', 'invalid_client'],
    ['refused', 400, 'no JSON', 'HTTP status 400', ''],
    ['refused', 401, 'no JSON', 'HTTP status 401', 'invalid_client'],
    ['unreadable', 200, 'no JSON', UNREADABLE, ''],
    ['unreadable', 200, '[]', UNREADABLE, ''],
    ['unreadable', 200, '{"access_token":"a","access_token":"b"}', UNREADABLE, ''],
    ['unreadable', 200, answer({ access_token: '' }), UNREADABLE, ''],
    ['unreadable', 200, answer({ access_token: 'a\r\nb' }), UNREADABLE, ''],
    ['unreadable', 200, answer({ access_token: 'é' }), UNREADABLE, ''],
    ['unreadable', 200, answer({ token_type: 'mac' }), UNREADABLE, ''],
  ])('%s: %d %s', (kind, status, text, message, code) => {
    const thrown = (() => {
      try {
        return readTokenAnswer(status, text)
      } catch (error) {
        return error
      }
    })()
    expect(thrown).toBeInstanceOf(TokenProblem)
    expect(thrown).toMatchObject({ kind, message, code, httpStatus: status })
  })
})
