import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { type TestServer, testServer } from '../../../server/test/server.ts'
import { databaseUrl, dataDirectory, rollcall, rollcallJson, start, until } from '../../test/command.ts'

let server: TestServer
let env: Record<string, string>

beforeAll(async () => {
  server = await testServer()
  await server.registry('civil')
  env = { DATABASE_URL: databaseUrl(server.database.connection) }
})
afterAll(() => server.close())

const RECORD = JSON.stringify({ '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'SECRET-1' }] })
const publish = (record: string, ...words: string[]) =>
  rollcall(['publish', 'civil', '--event', 'LiveBirth', '--record', '-', ...words], env, record)

const events = async (columns: string) => (await server.database.db.pool.query(`select ${columns} from event order by id`)).rows

describe('publish', () => {
  test('publishes a record with what is said of it, once for each --event-id', async () => {
    const words = ['--event-id', 'e-1', '--occurred-at', '2026-02-03', '--source-version', '7', '--replace']
    const first = await publish(RECORD, ...words)
    expect(first).toEqual({ code: 0, stdout: expect.stringMatching(/^event \d+: 0 subscriptions matched\n$/), stderr: '' })
    expect(await publish(RECORD, ...words)).toEqual(first)
    expect(await events('event_type, event_id, occurred_at')).toEqual([
      { event_type: 'LiveBirth', event_id: 'e-1', occurred_at: new Date('2026-02-03T00:00:00Z') },
    ])
    const { rows } = await server.database.db.pool.query(
      'select primary_identifier, source_version::integer from record_source_version',
    )
    expect(rows).toEqual([{ primary_identifier: 'SECRET-1', source_version: 7 }])
  })

  test('takes elements out of lists with --remove', async () => {
    const nid = { identifier_type: 'NID', identifier_value: 'SECRET-9' }
    const { identifier, ...more } = JSON.parse(RECORD)
    await publish(JSON.stringify({ ...more, identifier: [...identifier, nid] }))
    const home = await dataDirectory()
    onTestFinished(home.remove)
    const file = join(home.path, 'remove.json')
    await writeFile(file, JSON.stringify({ identifier: [nid] }))
    expect(await publish(RECORD, '--remove', file)).toMatchObject({ code: 0, stderr: '' })
    const { rows } = await server.database.db.pool.query(
      `select document::jsonb -> 'identifier' as identifier from r1_person where primary_identifier = 'SECRET-1'`,
    )
    expect(rows).toEqual([{ identifier }])
    expect(await publish(RECORD, '--remove', '-')).toMatchObject({
      code: 1,
      stderr: 'rollcall: only one file can be read from standard input (-)\n',
    })
    await writeFile(file, '{"identifier": "SECRET-9"}')
    const { code, stderr } = await publish(RECORD, '--remove', file)
    expect([code, stderr]).toEqual([1, 'rollcall: remove.identifier: must be an array\n'])
  })

  test.each([
    ['[]', 'rollcall: the file of --record must hold a JSON object\n'],
    ['{', /^rollcall: the file of --record is not JSON: /],
    ['{"@type": "Person", "note": "SECRET-2"}', /^rollcall: record: .*UIN/],
  ])('refuses %s', async (record, message) => {
    const { code, stderr } = await publish(record)
    expect(code).toBe(1)
    if (typeof message === 'string') expect(stderr).toBe(message)
    else expect(stderr).toMatch(message)
    expect(stderr).not.toContain('SECRET')
  })
})

describe('outbox', () => {
  test('shows what failed, and tries it again', async () => {
    await server.database.db.pool.query(
      "insert into rollcall_outbox.event (namespace, reg_event_type, record) values ('civil', 'Party', '{}')",
    )
    expect((await rollcall(['outbox', 'show'], env)).stdout).toBe('1 row to be published\nno row has failed\n')
    await server.database.db.pool.query("update rollcall_outbox.event set failure = 'reg_event_type: is none', failed_at = now()")
    const { waiting, failed } = await rollcallJson(['outbox', 'show'], env)
    expect([waiting, failed]).toMatchObject([0, [{ failure: 'reg_event_type: is none', namespace: 'civil' }]])
    expect((await rollcall(['outbox', 'retry'], env)).stdout).toBe('1 row tried again as soon as a worker comes to it\n')
  })
})

describe('simulate', () => {
  test('refuses a live registry, and one that is not there', async () => {
    for (const [namespace, message] of [
      [
        'civil',
        'the registry civil is live: synthetic people never come among real ones; make a sandbox registry with rollcall registry add civil --sandbox',
      ],
      ['nowhere', 'there is no registry at nowhere'],
    ] as const) {
      const { code, stdout, stderr } = await rollcall(['simulate', namespace], env)
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
    }
  })

  test('publishes so many events, the same for the same seed, until it is stopped', async () => {
    const before = (await events('id')).length
    await server.database.db.pool.query('update registry set demo = true')
    const words = ['simulate', 'civil', '--rate', 'unlimited', '--seed', '7']
    const { code, stdout } = await rollcall([...words, '--count', '12'], env)
    const lines = stdout.trim().split('\n')
    expect([code, lines.length, lines.at(-1)]).toEqual([0, 13, '12 events in all'])
    expect(lines[0]).toMatch(/^\w+, event \d+: 0 subscriptions matched$/)
    expect(await events('id')).toHaveLength(before + 12)
    const again = await rollcall([...words, '--count', '12'], env)
    const types = (text: string) => text.match(/^\w+(?=, event)/gm)
    expect(types(again.stdout)).toEqual(types(stdout))

    const running = start(['simulate', 'civil', '--rate', '200', '--json'], env)
    await until(running, () => (running.output().stdout.split('\n').length > 5 ? true : null))
    const { code: ended, stdout: printed } = await running.stop('SIGINT')
    expect(ended).toBe(0)
    expect(JSON.parse(printed.split('\n')[0] ?? '')).toMatchObject({
      id: expect.any(Number),
      matched: 0,
      record: { '@type': 'CRVS_Person' },
    })
  })
})
