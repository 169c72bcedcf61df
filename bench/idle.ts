/**
 * What a node without work uses: transactions and processor time of the node and of PostgreSQL, beside a bare Fastify
 * process. A node of both roles runs long enough for each task of every minute to have run three times.
 *
 *     npm run bench -- idle --seconds 180
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { withBenchDatabase, withoutStored } from './shared/bench-database.ts'
import { databaseTime } from './shared/database-time.ts'
import { readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'
import { rounded } from './shared/statistics.ts'

/** Transactions a second that a node without work may commit. */
const BAR = 1
const NUMBERS = {
  seconds: [180, 1],
  /** Milliseconds after the start that are not counted: autovacuum commits too, when it first looks at the new tables. */
  settle: [70_000, 1],
} as const

/** Measures, prints, and writes `idle.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { seconds, settle } = plan
  return withBenchDatabase(withoutStored(place), async ({ db, start }) => {
    const committed = async (): Promise<number> => {
      const { rows } = await db.pool.query<{ committed: number }>(
        `select xact_commit::float8 as committed from pg_stat_database where datname = current_database()`,
      )
      return rows[0]?.committed ?? 0
    }
    const node = await start('servers/rollcall', { ROLLCALL_ROLE: 'all' })
    const floor = await start('floors/idle')
    const measure = async () => ({
      commits: await committed(),
      database_us: await databaseTime(db),
      node_us: (await node.usage()).cpu_us,
      floor_us: (await floor.usage()).cpu_us,
    })
    await sleep(settle)
    const before = await measure()
    await sleep(seconds * 1_000)
    const after = await measure()
    const found = {
      seconds,
      // The statements of this benchmark are not counted.
      commits_per_second: (after.commits - before.commits - 2) / seconds,
      node_ms_per_second: (after.node_us - before.node_us) / 1_000 / seconds,
      floor_ms_per_second: (after.floor_us - before.floor_us) / 1_000 / seconds,
      database_ms_per_second: (after.database_us - before.database_us) / 1_000 / seconds,
    }
    await writeResult('idle', found)
    const commits = rounded(found.commits_per_second, 2)
    const using = (milliseconds: number) => `${rounded(milliseconds, 1)} ms of its process`
    return [
      {
        what: 'idle',
        ours: `${using(found.node_ms_per_second)} and ${rounded(found.database_ms_per_second, 1)} ms of PostgreSQL a second`,
        floor: `${using(found.floor_ms_per_second)} a second`,
        figure: `${commits} commits/s`,
        wanted: `at most ${BAR}`,
        passed: commits <= BAR,
      },
    ]
  })
}
