/** A copy under random changes of its source, while what follows it is killed again and again: in the end it is as its source. */

import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { openDatabase } from '@rollcall/database/database'
import { registryAt } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROPERTY_SEED } from '../../../../test/property-seed.ts'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { copiedPeople, makeMirroredOffice, mirroredRegistry, polledSource } from '../../test/mirrored-office.ts'
import { officeReader } from '../../test/office.ts'
import { officeChange } from '../../test/office-changes.ts'
import { wantComparison } from '../store/mirrors.ts'
import { startFollowers } from './followers.ts'

const transactions = fc.array(
  fc.record({
    changes: fc.array(officeChange, { minLength: 1, maxLength: 6 }),
    isKept: fc.boolean(),
    isKilled: fc.boolean(),
  }),
  { minLength: 12, maxLength: 12 },
)

test('in the end the copy is as its source, wherever what follows it was killed, and no event is there twice', async () => {
  await fc.assert(
    fc.asyncProperty(transactions, async (all) => {
      const [database, empty] = await Promise.all([testDatabase(), emptyDatabase()])
      const office = await makeMirroredOffice(empty.connection, [])
      const env = { READER: await officeReader(empty.connection) }
      await office.query('alter table office.person drop constraint person_national_no_key')
      await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
      const registries = async () => [await registryAt(database.db, 'civil')]
      const follow = () => {
        const db = openDatabase(database.connection)
        const log = { warn: () => undefined, info: () => undefined }
        const followers = startFollowers({ db, env, limits: { ...DEFAULT_LIMITS, node_lease: 1 }, log, registries })
        return { followers, db }
      }
      let running = follow()
      const stop = async () => {
        await running.followers.stop()
        await running.db.close()
      }
      /** Its connections to both databases end at once, wherever it is. */
      const kill = async () => {
        for (const name of [database.connection.database, empty.connection.database]) {
          await office.query(
            `select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and pid <> pg_backend_pid()
              and backend_type = 'client backend'`,
            [name],
          )
        }
        await stop()
        running = follow()
      }
      try {
        await expect
          .poll(() =>
            copiedPeople(database.db).then(
              () => true,
              () => false,
            ),
          )
          .toBe(true)
        for (const { changes, isKept, isKilled } of all) {
          await office.query(`begin; ${changes.join('; ')}; ${isKept ? 'commit' : 'rollback'}`)
          if (isKilled) await kill()
        }
        const [{ id } = expect.fail()] = await registries()
        await wantComparison(database.db, id)
        const wanted = async () =>
          (
            await office.query(
              `select national_no from office.person where removed_at is null and gender is distinct from 7`,
            )
          ).rows.map((row) => row.national_no as string)
        const copied = async () => Object.keys(await copiedPeople(database.db))
        // A row that cannot be read keeps its record: it is mended, so that source and copy can be equal.
        await office.query('update office.person set gender = 1 where gender = 7')
        await expect.poll(async () => (await copied()).toSorted()).toEqual([...new Set(await wanted())].toSorted())
        const dead = async () =>
          Object.entries(await copiedPeople(database.db)).flatMap(([one, { death_date }]) => (death_date ? [one] : []))
        const died = await office.query(`select national_no from office.person join office.death using (person_no)
          where removed_at is null and national_no in (select national_no from office.person where removed_at is null
            group by national_no having count(*) = 1)`)
        await expect
          .poll(async () => await dead())
          .toEqual(expect.arrayContaining(died.rows.map((row) => row.national_no)))
        const { rows } = await database.db.pool.query(
          'select record, record_version from event group by record, record_version, event_type having count(*) > 1',
        )
        expect(rows).toEqual([])
      } finally {
        await stop()
        await office.end()
        await database.close()
        await empty.drop()
      }
    }),
    { numRuns: 3, endOnFailure: true, seed: PROPERTY_SEED },
  )
})
