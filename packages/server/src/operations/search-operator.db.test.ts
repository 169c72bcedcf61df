import { afterAll, beforeAll, expect, test } from 'vitest'
import { SETTINGS_AGE } from '../../test/clock.ts'
import { holdTable, lockWaits } from '../../test/held-table.ts'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../../test/server.ts'
import { listSlowSearches } from '../store/records/index-plan.ts'
import { applyIndexes } from '../store/registries/index-apply.ts'
import { addAttribute } from '../store/registries/registry-attributes.ts'

let server: TestServer
let peer: TestParticipant

const person = (uin: string, clan_name: string) => ({
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  clan_name,
  sex: 'female',
})

beforeAll(async () => {
  server = await testServer({ ROLLCALL_SLOW_SEARCH: '300' })
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
  expect(await ask({ sex: 'F' }, { attribute_name: 'clan', sort_order: 'desc' })).toEqual([
    'Abega',
    'Abasinga',
  ])
})

test('a slow search is remembered by what it asked about, and measured; no value is kept', async () => {
  const { context, database } = server
  await ask({ sex: 'female' })
  const held = await holdTable(database)
  const asking = ask({ sex: 'female', surname: 'Mukamana', birth_date: { $lt: '1960' } })
  await expect.poll(() => lockWaits(database)).toBe(1)
  server.clock.pass(400)
  await held.release()
  expect(await asking).toEqual([])
  await context.slowSearches.flush()
  const slow = await listSlowSearches(database.db, { id: 1 })
  expect(slow).toEqual([
    {
      registry: 1,
      record_type: 'Person',
      attributes: ['birth_date', 'sex', 'surname'],
      searches: 1,
      total_ms: expect.any(Number),
      max_ms: slow[0]?.total_ms,
      last_seen: expect.any(Date),
    },
  ])
  expect(slow[0]?.total_ms).toBeGreaterThan(300)
  const { text } = await context.metrics.render()
  expect(text).toMatch(/rollcall_search_seconds_count\{kind="civil",outcome="answered"\} [1-9]/)
  expect(text).not.toContain('Mukamana')
})
