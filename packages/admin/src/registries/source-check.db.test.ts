import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addressOf, makeOffice, officeReader, officeSource } from '../../../source/test/office.ts'
import { checkSource } from './source-check.ts'

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

const check = (source: unknown, more: object = {}) => checkSource({ db: database.db, env }, { of: 'civil', source, ...more })

test('a source is checked by its file, for a kind or a registry', async () => {
  const checked = await check(officeSource({ env: 'READER' }))
  expect(checked).toMatchObject({ writes: [], records: [{ record_type: 'Person', rows: 1, left_out: 0, unfound: [] }] })
  await expect(checkSource({ db: database.db, env }, { of: 'civl', source: {} })).rejects.toThrow(
    'there is no registry and no kind civl; there are civil, ',
  )
})

test('an account that may write is refused, unless it is a trial', async () => {
  const source = officeSource({ env: 'OWNER' })
  await expect(check(source)).rejects.toThrow(
    /^the account of the source may do more than read: it is a superuser; .*\. Give it an account that may only read, or say --allow-writer for a trial$/,
  )
  expect((await check(source, { allow_writer: true })).writes).toContain('it is a superuser')
})

test('a fault of the file is refused with its member', async () => {
  const refused = { name: 'AdminRefusal', message: 'engine: is called postgresql here', at: ['source', 'engine'] }
  await expect(check({ ...officeSource({ env: 'READER' }), engine: 'postgres' })).rejects.toThrow(
    expect.objectContaining(refused),
  )
  const nowhere = { name: 'AdminRefusal', message: 'url: the variable NOBODY is not set', at: ['source', 'url'] }
  await expect(check(officeSource({ env: 'NOBODY' }))).rejects.toThrow(expect.objectContaining(nowhere))
})
