import { addOperator, type OperatorRole } from '@rollcall/admin/operators/operators'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { answerOf, bearer, post, searchRequest, type TestServer, testServer } from '../../../test/server.ts'

let server: TestServer
let token: string

beforeAll(async () => {
  server = await testServer({ limits: { admin_body_bytes: 4096 } })
  for (const kind of ['civil', 'social']) await server.registry(kind)
  token = await tokenOf('publisher', ['publish'])
})
afterAll(() => server.close())

async function tokenOf(name: string, roles: readonly OperatorRole[], registries?: readonly string[]): Promise<string> {
  return (await addOperator(acting(server.database), { name, roles, registries })).token
}

const person = (uin: string, more: object = {}) => ({
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  ...more,
})

async function publish(
  body: unknown,
  { namespace = 'civil', as = token, type = 'application/json', to = 'events' } = {},
): Promise<Awaited<ReturnType<typeof answerOf>>> {
  const response = await fetch(`${server.adminUrl}/admin/v1/registries/${namespace}/${to}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${as}`, 'Content-Type': type },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
  return answerOf(response)
}

const birth = (uin: string, more: object = {}) => ({ reg_event_type: 'LiveBirth', record: person(uin, more) })

it('a published record is there when it is answered, and a part of it is merged into it', async () => {
  const peer = await server.participant('spmis.example')
  const records = async () => {
    const { body } = await post(
      `${server.url}/civil/v1.0.0/registry/sync/search`,
      searchRequest('spmis.example', { type: 'UIN', value: 'P-1' }),
      bearer(peer),
    )
    return body.message.search_response[0].data.reg_records
  }
  const { status, body } = await publish(birth('P-1', { sex: 'female' }))
  expect([status, body]).toEqual([200, { id: expect.any(Number), matched: 0 }])
  expect(await records()).toEqual([person('P-1', { sex: 'female' })])
  const died = { reg_event_type: 'Death', record: person('P-1', { death_date: '2026-02-03' }) }
  expect((await publish(died)).status).toBe(200)
  expect(await records()).toEqual([person('P-1', { sex: 'female', death_date: '2026-02-03' })])
})

it('the same event_id has the first answer, and another content under it is a conflict', async () => {
  const event = { ...birth('P-2'), event_id: 'e-1' }
  const first = await publish(event)
  expect((await publish(event)).body).toEqual(first.body)
  const other = await publish({ ...birth('P-3'), event_id: 'e-1' })
  expect([other.status, other.body.errors]).toEqual([
    409,
    [{ code: 'err.request.bad', message: 'event_id: something else was published under it before' }],
  ])
})

it('event_id, occurred_at and source_version are taken', async () => {
  const said = { event_id: 'e-9', occurred_at: '2026-02-03T00:00:00Z', source_version: 7 }
  const newer = { ...birth('P-9', { note: 'newer' }), ...said }
  expect((await publish(newer)).status).toBe(200)
  const older = { ...birth('P-9', { note: 'older' }), source_version: 6 }
  expect((await publish(older)).status).toBe(200)
  const { pool } = server.database.db
  const { rows: events } = await pool.query("select occurred_at from event where event_id = 'e-9'")
  expect(events).toEqual([{ occurred_at: new Date(said.occurred_at) }])
  const { rows: records } = await pool.query(
    "select document::jsonb ->> 'note' as note from r1_person where primary_identifier = 'P-9'",
  )
  expect(records).toEqual([{ note: 'newer' }])
})

describe('it is refused', () => {
  it.each<[string, unknown, object, string]>([
    ['no event type', { record: person('1') }, {}, '400 err.request.bad reg_event_type: is required'],
    [
      'an unknown event type',
      { reg_event_type: 'Party', record: person('1') },
      {},
      expect.stringMatching(/^400 err\.request\.bad reg_event_type: must be one of LiveBirth, /),
    ],
    ['no record', { reg_event_type: 'Death' }, {}, '400 err.request.bad record: is required'],
    ['a record that is none', { reg_event_type: 'Death', record: [] }, {}, '400 err.request.bad record: must be an object'],
    [
      'a record of another kind',
      { reg_event_type: 'Death', record: { ...person('1'), '@type': 'Farmer' } },
      {},
      expect.stringMatching(/^400 err\.request\.bad record\.@type: must be one of /),
    ],
    [
      'a record without its identifier',
      { reg_event_type: 'Death', record: { '@type': 'Person' } },
      {},
      expect.stringMatching(/^400 err\.request\.bad record: .*UIN/),
    ],
    ['an unknown member', { ...birth('1'), extra: 1 }, {}, '400 err.request.bad extra: is not a known member'],
    [
      'a member of the path in the body',
      { ...birth('1'), namespace: 'social' },
      {},
      '400 err.request.bad namespace: is not a known member',
    ],
    ['no JSON', '{"reg_event_type"', {}, expect.stringMatching(/^400 err\.request\.bad reg_event_type: not JSON: /)],
    ['no object', '[]', {}, '400 err.request.bad body: must be a JSON object'],
    ['a name twice', '{"record":{},"record":{}}', {}, '400 err.request.bad record: the member name occurs twice in one object'],
    ['too large', birth('1', { note: 'x'.repeat(5_000) }), {}, '413 err.request.bad body: must be at most 4096 bytes'],
    ['another type', '{}', { type: 'text/plain' }, '415 err.request.bad Content-Type: must be application/json'],
    [
      'an unknown namespace',
      birth('1'),
      { namespace: 'nowhere' },
      '404 err.request.not_found there is no such namespace or path here',
    ],
  ])('%s', async (_name, body, options, expected) => {
    const { status, body: answer } = await publish(body, options)
    const [error] = answer.errors
    expect(`${status} ${error.code} ${error.message}`).toEqual(expected)
  })

  it('with another role, and with a token of another registry', async () => {
    const reader = await publish(birth('1'), { as: await tokenOf('reader', ['read', 'operate', 'audit']) })
    expect([reader.status, reader.body.errors[0].message]).toEqual([403, 'this call needs the role publish'])
    const as = await tokenOf('bound', ['publish'], ['social'])
    const bound = await publish(birth('1'), { as })
    expect([bound.status, bound.body.errors[0].message]).toEqual([403, 'the token is bound to other registries'])
    const record = { '@type': 'Member', member_identifier: [{ identifier_type: 'UIN', identifier_value: 'M' }] }
    expect((await publish({ reg_event_type: 'REGISTER', record }, { as, namespace: 'social' })).status).toBe(200)
  })
})

it('nothing of a record is in the log', async () => {
  await publish(birth('SECRET-77', { note: 'SECRET-78' }))
  await publish({ ...birth('SECRET-77'), extra: 'SECRET-79' })
  expect(server.logged()).toContain('"call":"publishEvent"')
  expect(server.logged()).toContain('"registry":"civil"')
  expect(server.logged()).not.toContain('SECRET')
})

it('two records of one person are merged, and taken apart again, by an operator who may', async () => {
  const found = async (): Promise<number> => {
    const { rows } = await server.database.db.pool.query("select from r1_person where primary_identifier in ('P-20', 'P-21')")
    return rows.length
  }
  for (const uin of ['P-20', 'P-21']) expect((await publish(birth(uin))).status).toBe(200)
  const as = await tokenOf('registrar', ['operate'])
  const named = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
  const merge = { survivor: named('P-20'), retired: named('P-21') }
  const done = { namespace: 'civil', record_type: 'Person', notified: 0 }
  const refused = await publish(merge, { to: 'records/merge' })
  expect([refused.status, refused.body.errors[0].message]).toEqual([403, 'this call needs the role operate'])
  expect((await publish(merge, { as, to: 'records/merge' })).body).toEqual(done)
  expect(await found()).toBe(1)
  expect((await publish({ retired: named('P-21') }, { as, to: 'records/unmerge' })).body).toEqual(done)
  expect(await found()).toBe(2)
})
