/** The source of a registry by the admin API: its check reads the environment of the server, and shows no value and no address. */

import { openSources } from '@rollcall/source/open-sources'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { addRegistry } from '../../../../admin/src/registries/registries.ts'
import { acting } from '../../../../admin/test/acting.ts'
import { emptyDatabase } from '../../../../keys/test/postgres.ts'
import { addressOf, makeOffice, officeReader, officeSource } from '../../../../source/test/office.ts'
import { adminCaller } from '../../../test/admin-api.ts'
import { testServer } from '../../../test/server.ts'

const server = await testServer()
const office = await emptyDatabase()
const sources = openSources(server.database.db, process.env)
afterAll(async () => {
  await server.close()
  await sources.close()
  await office.drop()
  vi.unstubAllEnvs()
})
const { tokens, post, get, refusal } = await adminCaller(server)
let reader: string
const CHECK = '/registries/civil/source/check'

beforeAll(async () => {
  await makeOffice(office.connection, [
    { person_no: 1, national_no: 'A1', family_name: 'Okoro', gender: 1, born: '1985-06-12' },
    { person_no: 2, national_no: 'a2', family_name: 'Obi', gender: 9 },
  ])
  reader = await officeReader(office.connection)
  vi.stubEnv('CIVIL_OF_ROUTES', reader)
  const { db } = server.database
  await addRegistry(acting({ db }), { kind: 'civil', source: officeSource({ env: 'CIVIL_OF_ROUTES' }) })
  await server.registry('social', [])
})

it('is checked by whoever may operate, and the report has counts and rules', async () => {
  const { status, body } = await post(CHECK, {}, tokens.operate)
  expect([status, body.writes]).toEqual([200, []])
  const [person] = body.records
  expect(person).toMatchObject({ record_type: 'Person', rows: 2, left_out: 1 })
  expect(person.unfound).toEqual([{ name: 'UIN', column: 'national_no', count: 1 }])
  const text = JSON.stringify(body)
  expect(text).not.toMatch(/Okoro|Obi|1985/)
  expect(text).not.toContain(new URL(reader).password)
  expect((await post(CHECK, {}, tokens.read)).status).toBe(403)
  expect(await refusal('/registries/social/source/check', {}, tokens.operate)).toContain(
    'the records of social are in our own tables: there is no source',
  )
})

it('is shown with its state, and never with its address', async () => {
  const { body } = await get('/registries/civil', tokens.read)
  expect(body).toMatchObject({ source_away: false, source: { way: 'live', url: { env: 'CIVIL_OF_ROUTES' } } })
  expect(JSON.stringify(body)).not.toContain(new URL(reader).password)
  expect((await get('/registries/social', tokens.read)).body.source_away).toBe(null)
})

it('an account that may write is reported, and no caller may allow one', async () => {
  vi.stubEnv('CIVIL_OF_ROUTES', addressOf(office.connection))
  expect((await post(CHECK, {}, tokens.operate)).body.writes).toContain('it is a superuser')
  const source = officeSource({ env: 'CIVIL_OF_ROUTES' })
  const added = { kind: 'civil', namespace: 'other', source, allow_writer: true }
  expect(await refusal('/registries', added, tokens.own)).toContain('allow_writer')
  expect(await refusal('/registries/civil/settings', { source, allow_writer: true }, tokens.own)).toContain('allow_writer')
})

it('says why it cannot be read', async () => {
  vi.stubEnv('CIVIL_OF_ROUTES', 'postgresql://nobody@127.0.0.1:1/x')
  expect(await refusal(CHECK, {}, tokens.operate)).toContain(
    'there is no answer from a database at the address in CIVIL_OF_ROUTES (ECONNREFUSED)',
  )
})
