import { applyIndexes } from '@rollcall/records/registries/index-apply'
import { addAttribute } from '@rollcall/records/registries/registry-attributes'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { SETTINGS_AGE } from '../../../../observe/test/clock.ts'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../../server.ts'

let server: TestServer
let peer: TestParticipant

const person = (uin: string, clan_name: string) => ({
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  clan_name,
  sex: 'female',
})

beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  await server.registry('civil', [person('1', 'Abasinga'), person('2', 'Abega')])
})

afterAll(() => server.close())

async function ask(query: object, sort?: object) {
  const search_criteria = { query_type: 'expression', query, ...(sort && { sort: [sort] }) }
  const { body } = await postSearch(server, peer, [{ search_criteria }], 'civil')
  const { status, status_reason_code, status_reason_message, data } = body.message.search_response[0]
  if (status === 'succ') return data.reg_records.map((record: { clan_name: string }) => record.clan_name)
  return `${status_reason_code}: ${status_reason_message}`
}

test("an operator's attribute is searched once it is filled, and refused until then", async () => {
  expect(await ask({ clan: 'Abega' })).toContain('rjct.search_criteria.invalid: search_criteria.query')
  await addAttribute(server.database.db, 'civil', 'Person', {
    name: 'clan',
    type: 'text',
    paths: ['clan_name'],
    aliases: ['lineage'],
    sortable: true,
    indexed: true,
    fold: true,
  })
  server.clock.pass(SETTINGS_AGE)
  expect(await ask({ clan: 'Abega' })).toBe(
    'rjct.search_criteria.invalid: search_criteria.query: clan is being backfilled and cannot be searched yet',
  )
  expect(await ask({ sex: 'F' }, { attribute_name: 'clan', sort_order: 'desc' })).toBe(
    'rjct.sort.invalid: search_criteria.sort: clan is being backfilled and cannot be sorted by yet',
  )
  expect(await ask({ sex: 'F' })).toEqual(['Abasinga', 'Abega'])

  await applyIndexes(server.database.db, 'civil')
  server.clock.pass(SETTINGS_AGE)
  expect(await ask({ clan: 'ABEGA' })).toEqual(['Abega'])
  expect(await ask({ lineage: { $startsWith: 'aba' } })).toEqual(['Abasinga'])
  expect(await ask({ sex: 'F' }, { attribute_name: 'clan', sort_order: 'desc' })).toEqual(['Abega', 'Abasinga'])
})

test('a search is measured; no value is in the metrics', async () => {
  await ask({ sex: 'female', surname: 'Mukamana', birth_date: { $lt: '1960' } })
  const { text } = await server.context.metrics.render()
  expect(text).toMatch(/rollcall_search_seconds_count\{kind="civil",outcome="answered"\} [1-9]/)
  expect(text).not.toContain('Mukamana')
})
