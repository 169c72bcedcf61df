/**
 * Copies under random changes of their source, while what follows it is killed again and again: in the end they are as
 * the source. One has persons, the other one has records of two types.
 */

import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { openDatabase } from '@rollcall/database/database'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { PROPERTY_SEED } from '../../../../test/property-seed.ts'
import { emptyDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { differences } from '../../test/copies.ts'
import { HOUSEHOLDS, householdChange, householdSource } from '../../test/households.ts'
import { copiedPeople, makeMirroredOffice, mirroredRegistry, polledSource } from '../../test/mirrored-office.ts'
import { officeReader } from '../../test/office.ts'
import { officeChange } from '../../test/office-changes.ts'
import { findMirror, requestComparison } from '../store/mirrors.ts'
import { startFollowers } from './followers.ts'

const transactions = fc.array(
  fc.record({
    changes: fc.array(fc.oneof(officeChange, householdChange), { minLength: 1, maxLength: 8 }),
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
      await office.query(HOUSEHOLDS)
      const env = { READER: await officeReader(empty.connection) }
      await office.query('alter table office.person drop constraint person_national_no_key')
      await mirroredRegistry(database.db, polledSource({ env: 'READER' }))
      const welfare = { namespace: 'welfare', kind: 'social', sender_id: 'welfare.rollcall', source: householdSource }
      await addRegistry(database.db, welfare)
      const registries = () => Promise.all(['civil', 'welfare'].map((name) => requireRegistry(database.db, name)))
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
        for (const { id } of await registries()) {
          await expect.poll(async () => (await findMirror(database.db, id))?.compared_at ?? null).not.toBeNull()
        }
        for (const { changes, isKept, isKilled } of all) {
          await office.query(`begin; ${changes.join('; ')}; ${isKept ? 'commit' : 'rollback'}`)
          if (isKilled) await kill()
        }
        for (const { id } of await registries()) await requestComparison(database.db, id)
        const wanted = async () =>
          (
            await office.query(`select national_no from office.person where removed_at is null and gender is distinct from 7`)
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
        await expect.poll(async () => await dead()).toEqual(expect.arrayContaining(died.rows.map((row) => row.national_no)))
        for (const name of ['civil', 'welfare']) {
          await expect.poll(() => differences(database.db, name, env)).toEqual([])
        }
        const { rows } = await database.db.pool.query(
          'select 1 from event group by registry, record_type, record, record_version, event_type having count(*) > 1',
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
