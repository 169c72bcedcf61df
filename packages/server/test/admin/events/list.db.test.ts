import { AdminRefusal } from '@rollcall/admin/admin-function'
import { listEvents } from '@rollcall/admin/events/list'
import { publishEvent } from '@rollcall/admin/events/publish'
import { validator } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { type TestServer, testServer } from '../../server.ts'

let server: TestServer
const list = (input: object = {}) => listEvents(acting(server.database), { namespace: 'civil', ...input })

beforeAll(async () => {
  server = await testServer()
  for (const namespace of ['civil', 'north']) await server.registry('civil', [], namespace)
  for (const [namespace, reg_event_type, event_id] of [
    ['civil', 'LiveBirth', 'e-1'],
    ['north', 'LiveBirth', 'e-1'],
    ['civil', 'Death', 'e-2'],
    ['civil', 'Death', undefined],
  ] as const) {
    const record = { identifier: [{ identifier_type: 'UIN', identifier_value: 'SECRET-1' }] }
    await publishEvent(acting(server.context), { namespace, reg_event_type, event_id, record })
  }
})
afterAll(() => server.close())

test('the events of a registry are listed, the newest first, without whom they are about', async () => {
  const listed = await list()
  expect(validator(listEvents.result).problem(listed, '')).toBeNull()
  expect(listed.map(({ event_type, event_id }) => [event_type, event_id])).toEqual([
    ['Death', null],
    ['Death', 'e-2'],
    ['LiveBirth', 'e-1'],
  ])
  expect(JSON.stringify(listed)).not.toContain('SECRET')
})

test('a choice is one of type, id, time and place in the list', async () => {
  const [newest, second] = await list({ limit: 2 })
  const ids = async (input: object) => (await list(input)).map(({ event_id }) => event_id)
  expect(await ids({ event_type: 'live_birth' })).toEqual(['e-1'])
  expect(await ids({ event_id: 'e-2' })).toEqual(['e-2'])
  expect(await ids({ event_id: '\u0000' })).toEqual([])
  expect(await ids({ before: newest?.id })).toEqual(['e-2', 'e-1'])
  expect(await ids({ before: second?.id, limit: 1 })).toEqual(['e-1'])
  expect(await ids({ since: '2999-01-01T00:00:00Z' })).toEqual([])
  expect(await ids({ until: '2999-01-01T00:00:00Z' })).toHaveLength(3)
})

describe('it is refused', () => {
  test.each([
    [{ event_type: 'Party' }, /^event_type: must be one of LiveBirth, /],
    [{ limit: 1_001 }, /^limit: must be at most 1000$/],
    [{ since: 'yesterday' }, /^since: must be a date-time/],
  ])('%j', async (input, message) => {
    const refused = await list(input).catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(AdminRefusal)
    expect((refused as AdminRefusal).message).toMatch(message)
  })
})
