/**
 * Every bench and every part of it at its smallest size, on one database: it starts, it compares what both sides answer, which
 * is its own business, and writes its result. Nothing is measured: no ratio is judged here, only what is counted.
 */
import { globSync } from 'node:fs'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { BENCHMARKS } from '../bench/benchmarks.ts'
import { tableOf } from '../bench/shared/results.ts'
import { type TestDatabase, testDatabase } from '../packages/keys/test/postgres.ts'
import { hasMariadb, type MariadbDatabase, mariadbDatabase } from '../packages/source/test/mariadb.ts'

let database: TestDatabase
let results: string
let place: readonly string[]
let mariadb: MariadbDatabase | undefined
beforeAll(async () => {
  database = await testDatabase()
  results = await mkdtemp(join(tmpdir(), 'rollcall-benches-'))
  vi.stubEnv('BENCH_RESULTS', results)
  vi.spyOn(console, 'log').mockReturnValue()
  const { host, port, user, password, database: name } = database.owner
  const url = new URL(`postgres://localhost/${name}`)
  for (const [member, value] of Object.entries({ host, port, user, password })) url.searchParams.set(member, String(value))
  if (hasMariadb()) {
    mariadb = await mariadbDatabase()
    vi.stubEnv('BENCH_MARIADB', mariadb.address)
  }
  place = ['--smallest', '--database-url', url.href]
})
afterAll(async () => {
  vi.unstubAllEnvs()
  vi.restoreAllMocks()
  await rm(results, { recursive: true, force: true })
  await database.close()
  await mariadb?.drop()
})

const runs = Object.entries(BENCHMARKS).flatMap(([name, { load, again = [], counts }]) =>
  [[], ...again].map((more) => ({ name: [name, ...more].join(' '), load, more, counts })),
)

it('each file of bench/ that is no part of another one is a bench', () => {
  const files = globSync('bench/*.ts').map((file) => basename(file, '.ts'))
  expect(files.toSorted()).toEqual([...Object.keys(BENCHMARKS), 'all', 'benchmarks', 'run'].toSorted())
})

it.each(runs)('$name', async ({ load, more, counts }) => {
  const before = await readdir(results)
  const rows = await (await load()).run([...place, ...more])
  expect(rows.length).toBeGreaterThan(0)
  expect(tableOf(rows)).not.toContain('undefined')
  if (counts) expect(rows.filter(({ passed }) => !passed)).toEqual([])
  const written = (await readdir(results)).filter((file) => !before.includes(file))
  expect(written.length).toBeGreaterThan(0)
  for (const file of written) {
    const result = JSON.parse(await readFile(join(results, file), 'utf8'))
    expect(`${result.bench}.json`).toBe(file)
    expect(result.machine.node).toBe(process.version)
  }
})
