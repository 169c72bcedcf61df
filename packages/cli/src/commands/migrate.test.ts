import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../../../server/test/postgres.ts'
import { databaseUrl, dataDirectory, rollcall, rollcallJson } from '../../test/command.ts'

let env: { DATABASE_URL: string }
let home: Awaited<ReturnType<typeof dataDirectory>>
let database: Awaited<ReturnType<typeof testDatabase>>

beforeAll(async () => {
  database = await testDatabase()
  home = await dataDirectory()
  env = { DATABASE_URL: databaseUrl(database.connection) }
})

afterAll(async () => {
  await database.close()
  await home.remove()
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
  expect(stdout).toContain('some searches are refused before: rollcall index apply civil\n')
  await rollcallJson(['index', 'apply', 'civil'], env)
  expect(await rollcallJson(['migrate'], env)).toEqual(done)
})
