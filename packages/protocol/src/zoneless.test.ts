import { describe, expect, it, test } from 'vitest'
import { CallbackHeader } from './envelope.ts'
import { CALLBACKS } from './operations.ts'
import { inUtc } from './zoneless.ts'

const schemaOf = (name: string) => {
  const row = CALLBACKS.find((callback) => callback.name === name)
  if (row === undefined) throw new Error(`no callback ${name}`)
  return row.message.incoming
}
const LOCAL = '2026-11-23T09:01:22.512304'
const UTC = `${LOCAL}Z`

describe('a timestamp of a result without a zone is UTC', () => {
  it('in its header, and says so', () => {
    expect(inUtc(CallbackHeader, { message_ts: LOCAL, meta: { at: LOCAL } }, 'header')).toEqual({
      value: { message_ts: UTC, meta: { at: LOCAL } },
      assumed_utc: ['header.message_ts'],
    })
  })

  it('in its items, and not in records', () => {
    const item = (timestamp: string) => ({ timestamp, data: { reg_records: [{ timestamp: LOCAL }] } })
    expect(inUtc(schemaOf('on-search'), { search_response: [item(UTC), item(LOCAL)] }, 'message')).toEqual({
      value: { search_response: [item(UTC), item(UTC)] },
      assumed_utc: ['message.search_response[1].timestamp'],
    })
  })

  it('in what a status embeds, and in subscriptions', () => {
    const subscriptions = [{ code: 'S-1', timestamp: LOCAL }]
    const embedded = (timestamp: string) => ({ txnstatus_response: { txn_status: { search_response: [{ timestamp }] } } })
    expect(inUtc(schemaOf('txn-on-status'), embedded(LOCAL), 'message').value).toEqual(embedded(UTC))
    expect(inUtc(schemaOf('on-subscribe'), { subscribe_response: [{ subscriptions }] }, 'message').assumed_utc).toEqual([
      'message.subscribe_response[0].subscriptions[0].timestamp',
    ])
  })
})

test.each([
  ['2026-11-23 09:01:22', '2026-11-23T09:01:22Z', true],
  ['2026-11-23 09:01:22.5', '2026-11-23T09:01:22.5Z', true],
  ['2026-11-23 09:01:22Z', '2026-11-23T09:01:22Z', false],
  ['2026-11-23T09:01:22+0000', '2026-11-23T09:01:22+00:00', false],
  ['2026-11-23 09:01:22-0530', '2026-11-23T09:01:22-05:30', false],
])('%s is read as %s', (message_ts, read, isAssumed) => {
  expect(inUtc(CallbackHeader, { message_ts }, 'header')).toEqual({
    value: { message_ts: read },
    assumed_utc: isAssumed ? ['header.message_ts'] : [],
  })
})

test.each([
  ...[UTC, '2026-11-23T09:01:22+05:30', '2026-02-30T09:01:22', '', 7, null],
  ...['2026-02-30 09:01:22', '2026-11-23 09:01', '2026-11-23  09:01:22', '2026-11-23 09:01:22 +0000'],
  ...['2026-11-23T09:01:22+00', '2026-11-23T09:01:22+2500', '23-11-2026 09:01:22', '2026-11-23'],
])('%j stays as it is', (message_ts) => {
  const value = { message_ts }
  expect(inUtc(CallbackHeader, value, 'header')).toEqual({ value, assumed_utc: [] })
})
