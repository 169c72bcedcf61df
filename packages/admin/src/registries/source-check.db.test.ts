import { afterAll, beforeAll, expect, test } from 'vitest'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { addressOf, makeOffice, officeReader, officeSource } from '../../../source/test/office.ts'
import { acting } from '../../test/acting.ts'
import { addAttribute, listAttributes, removeAttribute } from './attributes.ts'
import { addIdentifierType, changeIdentifierType, listIdentifierTypes, removeIdentifierType } from './identifier-types.ts'
import { addRegistry, changeRegistry } from './registries.ts'
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

test('what the source of a registry maps is not taken away, and another source may be given with it', async () => {
  const deps = acting({ db: database.db, env })
  const namespace = 'civil'
  const clan = { namespace, record_type: 'Person', name: 'clan' }
  const source = officeSource({ env: 'READER' })
  const { Person } = source.records as { Person: { columns: object } }
  const mapping = (columns: object) => ({
    ...source,
    records: { Person: { ...Person, columns: { ...Person.columns, ...columns } } },
  })
  await addRegistry(deps, { kind: 'civil', source })
  await addAttribute(deps, { ...clan, type: 'text', paths: ['clan'] })
  await addIdentifierType(deps, { namespace, name: 'CEDULA', aliases: ['DocNo'] })
  await addIdentifierType(deps, { namespace, name: 'EMAIL', aliases: ['E_POST'] })
  const columns = { clan: 'given_name', 'identifier[DocNo]': 'mobile', 'identifier[E_POST]': 'given_name' }
  await changeRegistry(deps, { namespace, source: mapping(columns) })

  const refused = (rule: string) => ({
    name: 'AdminRefusal',
    reason: 'conflict',
    message: expect.stringContaining(`the source of civil would not fit (${rule}`),
  })
  const noType = (name: string) =>
    refused(`the column mapping of identifier[${name}]: the registry has no identifier type ${name}`)
  await expect(removeAttribute(deps, clan)).rejects.toMatchObject(
    refused('the column mapping of clan: Person has no such path; docs/kinds lists the paths); change it first'),
  )
  await expect(removeIdentifierType(deps, { namespace, name: 'docno' })).rejects.toMatchObject(noType('DocNo'))
  await expect(removeIdentifierType(deps, { namespace, name: 'EMAIL' })).rejects.toMatchObject(noType('E_POST'))
  await expect(changeIdentifierType(deps, { namespace, name: 'CEDULA', aliases: [] })).rejects.toMatchObject(noType('DocNo'))
  const primary_identifiers = { person: 'nid' }
  await expect(changeRegistry(deps, { namespace, primary_identifiers })).rejects.toMatchObject(
    refused('the column mapping has no identifier[NID], by which'),
  )
  const names = async () => [
    (await listAttributes(deps, { namespace })).some(({ name }) => name === 'clan'),
    (await listIdentifierTypes(deps, { namespace })).find(({ name }) => name === 'CEDULA')?.aliases,
  ]
  expect(await names()).toEqual([true, ['DocNo']])

  const { source: stored } = await changeRegistry(deps, {
    namespace,
    source: mapping({ 'identifier[NID]': 'mobile' }),
    primary_identifiers,
  })
  expect(stored).toEqual(mapping({ 'identifier[NID]': 'mobile' }))
  await removeAttribute(deps, clan)
  await removeIdentifierType(deps, { namespace, name: 'docno' })
  expect(await names()).toEqual([false, undefined])
})
