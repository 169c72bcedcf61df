import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { query } from '../../../database/test/statement.ts'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'

const { database, env, home } = await commandDatabase()

const names = async () => {
  const { rows } = await database.db.pool.query('select name from rollcall_migration order by name')
  return rows.map(({ name }) => name)
}
const refusal = async (...words: string[]) => {
  const { code, stdout, stderr } = await rollcall(words, env)
  return { code, stdout, stderr }
}

describe('a command beside tables of another version is refused, and changes nothing', () => {
  test.each([
    [['trace', 'm-1']],
    [['registry', 'add', 'civil']],
    [['participant', 'list']],
    [['keys', 'rotate']],
    [['deliveries', 'retry', '--all']],
    [['index', 'apply']],
    [['serve', '--no-migrate']],
  ])('%j', async (words) => {
    const all = await names()
    const last = all.at(-1)
    await query(database.owner, 'delete from rollcall_migration where name = $1', [last])
    expect(await refusal(...words)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        `rollcall: the tables of this database are older than this Rollcall (${last} must run first); ` +
        'use the version that your servers run, or upgrade the database with rollcall migrate\n',
    })
    expect(await names()).toEqual(all.slice(0, -1))
    await query(database.owner, `insert into rollcall_migration values ($1, '2998-01-01'), ('2999-later', '2999-01-01')`, [last])
    expect(await refusal(...words)).toEqual({
      code: 1,
      stdout: '',
      stderr:
        'rollcall: a newer Rollcall has migrated this database: its schema is of version 0.1.0 (2999-later), and this program is made for 0.1.0; run the version that migrated it, or a later one\n',
    })
    await query(database.owner, `delete from rollcall_migration where name = '2999-later'`)
    expect(await names()).toEqual(all)
  })

  test('a database without tables', async () => {
    const { connection, drop } = await emptyDatabase()
    const { code, stderr } = await rollcall(['participant', 'add', 'a.example', '--name', 'A'], {
      DATABASE_URL: databaseUrl(connection),
    })
    await drop()
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'rollcall: the database has no tables yet; run rollcall migrate\n' })
  })
})

test('it names the registries whose records an earlier version read by other rules', async () => {
  await rollcallJson(['registry', 'add', 'civil'], env)
  const path = join(home.path, 'people.ndjson')
  await writeFile(path, '{"identifier": "A1", "name": {"surname": "Okoro"}}\n')
  await rollcallJson(['import', 'civil', path], env)
  const done = { migrations: [], registries: 1, to_fill: [] }
  expect(await rollcallJson(['migrate'], env)).toEqual(done)
  await database.db.pool.query('delete from column_rules')
  expect(await rollcallJson(['migrate'], env)).toEqual({ ...done, to_fill: ['civil'] })
  const { stdout } = await rollcall(['migrate'], env)
  expect(stdout).toContain('some searches are refused until then: run rollcall index apply civil\n')
  await rollcallJson(['index', 'apply', 'civil'], env)
  expect(await rollcallJson(['migrate'], env)).toEqual(done)
})
