/**
 * Databases that servers of earlier versions made, and were killed on: today's server brings them up to date, and
 * answers what was acknowledged there. README.md says what is in them.
 */
import { readFile } from 'node:fs/promises'
import { openDatabase } from '@rollcall/database/database'
import { addRegistry } from '@rollcall/records/registries/registries'
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest'
import { readSchema, schemaLines } from '../../../database/test/database-schema.ts'
import { emptyDatabase, type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { databaseUrl, printed, type Running, rollcallJson, start } from '../command.ts'
import { type CountingReceiver, countingReceiver } from '../crash/receiver.ts'
import { restoreDatabase } from './dump.ts'
import { type AcknowledgedRequest, FIXTURE_COMMITS, FIXTURE_MASTER_KEY, FIXTURE_RECEIVER, fixtureFile } from './world.ts'

/** Short steps, so that what is tried again is soon tried again, and as many as are needed. */
const SCHEDULE = Array.from({ length: 100 }, () => '0.5').join(',')

const REGISTRIES = ['civil', 'social']
/** Tables of records are made from the kinds of today, and have tests of their own. */
const isOfMigrations = (table: string): boolean => !/^r[0-9]+_/.test(table)

let fresh: TestDatabase
beforeAll(async () => {
  fresh = await testDatabase()
  for (const namespace of REGISTRIES) {
    await addRegistry(fresh.db, { namespace, kind: 'civil', sender_id: `${namespace}.example` })
  }
})
afterAll(() => fresh.close())

describe.each(FIXTURE_COMMITS)('a database of %s', (commit) => {
  let receiver: CountingReceiver
  let database: Awaited<ReturnType<typeof emptyDatabase>>
  let requests: readonly AcknowledgedRequest[]
  let env: Readonly<Record<string, string>>
  const servers: Running[] = []

  beforeAll(async () => {
    receiver = await countingReceiver()
    database = await emptyDatabase()
    const dump = await readFile(fixtureFile(commit, 'sql'), 'utf8')
    await restoreDatabase(database.connection, dump.replaceAll(FIXTURE_RECEIVER, receiver.url))
    requests = JSON.parse(await readFile(fixtureFile(commit, 'json'), 'utf8'))
    env = {
      DATABASE_URL: databaseUrl(database.connection),
      ADMIN_PORT: '0',
      ROLLCALL_MASTER_KEY: FIXTURE_MASTER_KEY,
      ROLLCALL_RETRY_SCHEDULE: SCHEDULE,
      // A year, the longest there is: the fixtures get older.
      ROLLCALL_EXCHANGE_RETENTION: '31536000',
      LOG_LEVEL: 'warn',
    }
  })
  afterEach(() => Promise.all(servers.splice(0).map((server) => server.stop())))
  afterAll(async () => {
    await receiver.close()
    await database.drop()
  })

  /** Starts today's server, and waits until it listens. */
  async function serve(role: string): Promise<string> {
    const running = start(['serve', '--json', '--role', role], env)
    servers.push(running)
    const [line] = await printed(running, /^.*\n/)
    return JSON.parse(line).url
  }

  test('has work in it that was acknowledged and not answered', () => {
    expect(new Set(requests.filter(isOwed).map(({ left }) => left))).toEqual(
      new Set([
        'in a drain that is half done',
        'with a pending delivery',
        'behind an open breaker',
        'while it was answered',
        'after a job that failed',
        'with a job that nobody took',
      ]),
    )
  })

  test('is examined by doctor before it is migrated', async () => {
    const findings: { check: string; state: string }[] = await rollcallJson(['doctor'], env)
    expect(findings.filter(({ state }) => state === 'broken')).toEqual([])
    expect(findings.find(({ check }) => check === 'migrations')).toMatchObject({ state: 'weak' })
  })

  test('answers all of it, and has the tables of a new one', async () => {
    await serve('all')
    await vi.waitFor(
      () => {
        expect(requests.filter((request) => isOwed(request) && !isAnswered(request, receiver))).toEqual([])
      },
      { timeout: 240_000, interval: 100 },
    )
    for (const request of requests.filter(isOwed)) {
      const pages = [...(receiver.answers.get(request.correlation_id)?.values() ?? [])]
      expect(
        pages.flatMap(({ statuses }) => [...statuses]),
        request.left,
      ).toEqual(pages.map(() => 'succ'))
    }
    expect(receiver.unreadable).toEqual([])

    const db = openDatabase(database.connection)
    try {
      await vi.waitFor(
        async () => {
          const { rows } = await db.pool.query(
            `select (select count(*) from accepted_exchange where state in ('accepted', 'replying')) as unanswered,
              (select count(*) from delivery where state = 'pending') as pending,
              to_regnamespace('graphile_worker') as earlier_queue`,
          )
          expect(rows).toEqual([{ unanswered: 0, pending: 0, earlier_queue: null }])
        },
        { timeout: 240_000, interval: 100 },
      )
      const lines = await Promise.all(
        [db, fresh.db].map(async ({ pool }) => {
          const client = await pool.connect()
          try {
            return schemaLines(await readSchema(client), isOfMigrations)
          } finally {
            client.release()
          }
        }),
      )
      expect(lines[0]).toEqual(lines[1])
    } finally {
      await db.close()
    }
  })

  test('has nothing that doctor finds broken', async () => {
    const findings = await rollcallJson(['doctor'], env)
    expect(findings.filter(({ state }: { state: string }) => state === 'broken')).toEqual([])
    expect(await rollcallJson(['audit', 'verify'], env)).toMatchObject({ good: true })
  })

  test('has a grant of everything for each participant and registry, which doctor names', async () => {
    const participants: { sender_id: string }[] = await rollcallJson(['participant', 'list'], env)
    const registries: { namespace: string }[] = await rollcallJson(['registry', 'list'], env)
    const grants: { terms: object }[] = await rollcallJson(['grant', 'list'], env)
    expect(grants).toHaveLength(participants.length * registries.length)
    expect(grants.length).toBeGreaterThan(0)
    const all = { operations: 'all', query_forms: 'all', ask: 'all', see: 'all', basis: 'law' }
    for (const { terms } of grants) expect(terms).toMatchObject(all)
    const findings: { check: string; state: string }[] = await rollcallJson(['doctor'], env)
    expect(findings.find(({ check }) => check === 'grants')).toMatchObject({ state: 'weak' })
  })
})

const isOwed = ({ taken }: AcknowledgedRequest): boolean => taken.length === 0

function isAnswered({ correlation_id, records }: AcknowledgedRequest, { answers }: CountingReceiver): boolean {
  const pages = [...(answers.get(correlation_id)?.values() ?? [])]
  return pages.length > 0 && pages.reduce((sum, page) => sum + page.records, 0) === records
}
