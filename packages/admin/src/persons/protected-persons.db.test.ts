import { openSources } from '@rollcall/source/open-sources'
import { expect, test } from 'vitest'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { makeOffice, officeReader, officeSource } from '../../../source/test/office.ts'
import { acting } from '../../test/acting.ts'
import { addRegistry } from '../registries/registries.ts'
import { listProtectedPersons } from './protected-persons.ts'

/** More than may wait for the same live source at a time. */
const PERSONS = 1_010

test('all protected persons of a live source are listed, also when they are many', async () => {
  const database = await testDatabase()
  const office = await emptyDatabase()
  await makeOffice(office.connection, [{ person_no: 1, national_no: 'A1', family_name: 'Okoro' }])
  const env = { READER: await officeReader(office.connection) }
  const sources = openSources(database.db, env)
  try {
    const deps = acting({ db: database.db, env })
    await addRegistry(deps, { kind: 'civil', source: officeSource({ env: 'READER' }) })
    await database.db.pool.query(
      `insert into protected_person (registry, type, value, category, reason)
       select id, 'UIN', 'A' || no, 'adoption', 'Order' from registry, generate_series(1, $1) as no`,
      [PERSONS],
    )
    const listed = await listProtectedPersons(deps, { namespace: 'civil' })
    expect(listed.map(({ records }) => records)).toEqual([1, ...Array.from({ length: PERSONS - 1 }, () => 0)])
  } finally {
    await sources.close()
    await office.drop()
    await database.close()
  }
})
