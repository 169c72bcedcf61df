/** Raw RSA signatures, and the times of all layouts. */
import { CREATED, HEADER, PROFILES, replaced } from './cases.ts'
import { type Cases, edited, NAMES, NO_KEY, NO_MATCH, OTHER_SENDER } from './common-cases.ts'

const { every, jws, detached, raw } = PROFILES

const NO_RAW_BASE64 = 'the signature must be canonical base64'
const RSA = { profile: raw, key: 'system-rs256' } as const

export const rawRsa: Cases[string] = {
  'header text followed by message text': {
    'as signed': RSA,
    'non-ASCII and white space': { ...RSA, message: `{ "a": ${NAMES} }` },
    'another message': { ...RSA, sent: { message: '{}' }, invalid: NO_MATCH },
    'one blank more': { ...RSA, sent: { header: replaced(HEADER, ',', ', ') }, invalid: NO_MATCH },
    'another sender': { ...RSA, sent: { header: OTHER_SENDER }, invalid: NO_KEY },
    'made over the object of both': {
      ...RSA,
      signed_as: { ...raw, layout: 'jws-detached' },
      edit: (text) => Buffer.from(text.split('.')[2] ?? '', 'base64url').toString('base64'),
      invalid: NO_MATCH,
    },
  },
  'base64 and nothing else': {
    base64: RSA,
    'a list of parameters': { ...RSA, signed_as: every, invalid: NO_RAW_BASE64 },
    'without padding': { ...RSA, edit: edited(/=+$/, ''), invalid: NO_RAW_BASE64 },
    'with a line end': { ...RSA, edit: edited(/^(.{64})/, '$1\n'), invalid: NO_RAW_BASE64 },
  },
}

const HOUR = 3600
const DAY = 24 * HOUR

export const freshness: Cases[string] = {
  'created is not in the future': {
    'a clock that is 60 seconds behind': { now: CREATED - 60 },
    '61 seconds': { now: CREATED - 61, invalid: 'created is in the future' },
  },
  'expires is not in the past': {
    'a clock that is 60 seconds ahead': { now: CREATED + 360 },
    '61 seconds': { now: CREATED + 361, invalid: 'the signature has expired' },
  },
  'at most one hour': {
    'one hour': { expires: CREATED + HOUR },
    'one second more': { expires: CREATED + HOUR + 1, invalid: 'created and expires must be at most one hour apart' },
    'nothing at all': { expires: CREATED, invalid: 'expires must be later than created' },
    'less than nothing': { expires: CREATED - 1, invalid: 'expires must be later than created' },
  },
  'without expiry message_ts counts': {
    'a day old': { profile: jws, now: CREATED + DAY },
    'a second more': { profile: jws, now: CREATED + DAY + 1, invalid: 'message_ts is too old for a signature without expiry' },
    'five minutes ahead': { ...RSA, now: CREATED - 300 },
    'a second more ahead': { ...RSA, now: CREATED - 301, invalid: 'message_ts is in the future' },
    'four days old on a callback path': { profile: detached, now: CREATED + 4 * DAY, callback: true },
    'a second more on a callback path': {
      profile: detached,
      now: CREATED + 4 * DAY + 1,
      callback: true,
      invalid: 'message_ts is too old for a signature without expiry',
    },
    'no zone': {
      profile: jws,
      header: replaced(HEADER, '00Z', '00'),
      invalid: 'message_ts must be a date-time with a time zone',
    },
    'no message_ts': {
      profile: jws,
      header: replaced(HEADER, /"message_ts":"[^"]*",/, ''),
      invalid: 'message_ts must be a date-time with a time zone',
    },
  },
}
