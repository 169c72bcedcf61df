import { afterAll, beforeAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addressOf, makeOffice, officeReader } from '../../../source/test/office.ts'
import { checkSource } from './source-check.ts'
import { proposeSource } from './source-proposal.ts'

let database: TestDatabase
let office: Awaited<ReturnType<typeof emptyDatabase>>
let env: Record<string, string>
beforeAll(async () => {
  database = await testDatabase()
  office = await emptyDatabase()
  await makeOffice(office.connection, [{ person_no: 1, national_no: 'A1', family_name: 'Okoro', gender: 1 }])
  env = { READER: await officeReader(office.connection), OWNER: addressOf(office.connection) }
})
afterAll(async () => {
  await office.drop()
  await database.close()
})

const propose = (more: object) => proposeSource({ db: database.db, env }, { of: 'civil', engine: 'postgresql', ...more })

test('a proposal is a file that the check refuses at its first open line', async () => {
  const proposal = await propose({ url_env: 'READER', tables: { '': 'office.person' } })
  expect(proposal.decide).toHaveLength(2)
  expect(proposal.columns).toBeGreaterThan(5)
  const refused = {
    name: 'AdminRefusal',
    at: ['source', 'records', 'Person', 'columns', 'identifier[UIN]'],
    message: expect.stringContaining('stands for "?"; decide it, by one of the lines that the proposal has below it'),
  }
  await expect(checkSource({ db: database.db, env }, { of: 'civil', source: parse(proposal.file) })).rejects.toThrow(
    expect.objectContaining(refused),
  )
})

test('an account that may write is refused, unless it is a trial', async () => {
  await expect(propose({ url_env: 'OWNER' })).rejects.toThrow(
    /^the account of the source may do more than read: it is a superuser; /,
  )
  expect((await propose({ url_env: 'OWNER', allow_writer: true })).decide).toHaveLength(2)
})

test('one place of the address is named, and an engine that is known', async () => {
  const both = 'url: give url_env or url_file, which say where the address of the database is'
  await expect(propose({})).rejects.toThrow(both)
  await expect(propose({ url_env: 'READER', url_file: '/x' })).rejects.toThrow(both)
  await expect(propose({ url_env: 'READER', engine: 'postgres' })).rejects.toThrow('engine: is called postgresql here')
  await expect(propose({ url_env: 'ROLLCALL_MASTER_KEY' })).rejects.toThrow(
    'url.env: ROLLCALL_MASTER_KEY is a variable of Rollcall itself; give the address another name',
  )
})
