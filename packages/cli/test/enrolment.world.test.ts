/** docs/enrolment.md: its commands run beside a demo, one after the other; and what `enrol` and `enrolled` refuse. */
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateLines } from '@rollcall/synthetic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { loopback, type Respond, refusing } from '../../client/test/loopback.ts'
import { grant } from '../../participants/test/grants.ts'
import { MASTER_KEY } from '../../server/test/server.ts'
import { askToken } from './ask.ts'
import { demoServer } from './asking.ts'
import { databaseUrl, rollcall, start, until } from './command.ts'
import { shellFunction } from './command-server.ts'

const page = await readFile(new URL('../../../docs/enrolment.md', import.meta.url), 'utf8')
const run = promisify(execFile)

const blocksOf = (language: string): string[] =>
  [...page.matchAll(/```([a-z ]+)\n(.*?)\n```/gs)].flatMap(([, how, text = '']) => (how === language ? [text] : []))

let demo: Awaited<ReturnType<typeof demoServer>>
let folder: string
beforeAll(async () => {
  const people = (kind: string) => [...generateLines(kind, { count: 69, seed: 'demo' })].map((line) => JSON.parse(line))
  const registries = { ibr: people('ibr'), ess: people('ess'), disability: people('disability') }
  demo = await demoServer(registries, { signature_policy: 'if-present', allow_unsigned: true })
  await grant(demo.server.database, 'demo.example', 'ibr', { unfiltered: true })
  folder = demo.home.path
})
afterAll(() => demo.close())

/** Runs blocks one after the other, in one shell; what each of them prints. */
async function printedBy(blocks: readonly string[]): Promise<readonly string[]> {
  const { db, connection } = demo.server.database
  await db.pool.query('update registry set demo = true')
  const { participant } = JSON.parse(await readFile(join(folder, 'demo.json'), 'utf8'))
  const { token } = await askToken(`${demo.server.url}/oauth2/client/token`, participant)
  const own = (text: string): string =>
    text.replaceAll('http://127.0.0.1:8080', demo.server.url).replaceAll('demo.spmis.example', participant.sender_id)
  const script = [
    'set -e -o pipefail',
    await shellFunction(),
    'npx() { "$@"; }',
    ...blocks.flatMap((block) => [own(block), "echo '=== end of block'"]),
  ].join('\n')
  const { PATH = '', HOME = '' } = process.env
  const env = {
    PATH,
    HOME,
    ROLLCALL_DATA: folder,
    DATABASE_URL: databaseUrl(connection),
    ROLLCALL_MASTER_KEY: MASTER_KEY,
    TOKEN: token,
  }
  const { stdout } = await run('bash', ['-c', script], { cwd: folder, env })
  return stdout.split('=== end of block\n')
}

test('the page does what it says', async () => {
  const [subscribes = ''] = blocksOf('sh subscription')
  const running = start(subscribes.split(' ').slice(2), demo.home.env)
  await until(running, () => (running.output().stderr.includes('subscribed as SUB-') ? true : null))
  const blocks = blocksOf('sh')
  const [, enrols, finds, asks, suspends, receipt, others, file, life] = await printedBy(blocks)

  expect(JSON.parse(enrols ?? '').message).toMatchObject({
    transaction_id: 'enrol-1',
    enrolled_response: [{ reference_id: '7310000001', status: 'succ' }],
  })
  expect(finds).toMatch(/^from ibr\.example, signed\nitem 1: succ, 1 record\n[\s\S]*"first_name": "Ada"[\s\S]*\nyes\n$/)
  expect(asks).toContain('"enrolled_status":"yes"')
  expect(suspends).toMatch(/"status":"succ"[\s\S]*\nno\n$/)
  expect(receipt).toMatch(/^receipt asked of ibr\.example\n[\s\S]* {2}item 7310000001: succ\n/)
  const [label = '', checked = '', disabled = ''] = others?.split('\n') ?? []
  expect(JSON.parse(checked)).toMatchObject({
    header: { action: 'txn-on-status' },
    message: { enrolled_response: [{ reference_id: '8128560370', enrolled_status: label }] },
  })
  expect(disabled).toContain('"disabled_status":"yes"')
  expect(file).toBe('3 of 3 lines were taken\n')
  expect(life).toMatch(/^enrollement_status_change, event \d+: 1 subscription matched$/m)
  expect(life).toMatch(/\n20 events in all\n$/)

  // Enrolments of this person, and of living persons.
  await until(running, () =>
    /enrollement_status_change of a \w+, [\s\S]*7310000001/.test(running.output().stdout) ? true : null,
  )
  expect((await running.stop('SIGINT')).code).toBe(0)
})

const enrolment = (uin: string, enrolment_status: string) => ({
  member: {
    member_identifier: uin,
    programme_identifier: { programme: { programme_identifier: 'PRG-09' }, enrolment_status, status_change_date: '2026-03-01' },
  },
})

const enrol = (...words: string[]) => rollcall(['enrol', ...words], demo.home.env, '', folder)

describe('enrol', () => {
  test('lists what was rejected, and changes nothing when it is repeated', async () => {
    const lines = [
      ...Array.from({ length: 130 }, (_, at) => JSON.stringify(enrolment(`90000${1000 + at}`, 'Active'))),
      JSON.stringify(enrolment('SECRET-1', 'Sleeping')),
      '{"member": SECRET',
    ]
    await writeFile(join(folder, 'many.ndjson'), `${lines.join('\n')}\n`)
    const first = await enrol('ibr', 'many.ndjson')
    expect(first).toMatchObject({
      code: 3,
      stdout: '130 of 132 lines were taken\n2 rejected: many.ndjson.rejects.ndjson says why\n',
    })
    const rejects = await readFile(join(folder, 'many.ndjson.rejects.ndjson'), 'utf8')
    expect(rejects.split('\n').map((line) => line && JSON.parse(line).line)).toEqual([131, 132, ''])
    expect(rejects).toContain('enrolment_status: must be one of ')
    expect(rejects + first.stderr).not.toContain('SECRET')

    const { pool } = demo.server.database.db
    const events = async () => (await pool.query('select count(*)::int as count from event')).rows[0].count
    const before = await events()
    const again = await enrol('ibr', 'many.ndjson', '--json')
    expect([again.code, JSON.parse(again.stdout)]).toEqual([
      3,
      { file: 'many.ndjson', lines: 132, taken: 130, rejected: 2, finished: true, rejects_file: 'many.ndjson.rejects.ndjson' },
    ])
    expect(await events()).toBe(before)
  })

  test('reads standard input', async () => {
    const words = ['enrol', 'ibr', '-', '--format', 'ndjson']
    const { code, stdout } = await rollcall(words, demo.home.env, `${JSON.stringify(enrolment('9001', 'Active'))}\n[]\n`)
    expect([code, stdout]).toEqual([3, '1 of 2 lines were taken\n1 rejected: name a file with --rejects to see why\n'])
    // The mapping would be read, and no row would be left.
    expect(await rollcall([...words, '--map', '-'], demo.home.env, '{"member.member_identifier": "No"}')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: only one file can be read from standard input (-)\n',
    })
  })

  test.each([
    [['ibr'], 'name a registry and one file, such as: rollcall enrol ibr enrolments.ndjson; with --url the file alone'],
    [['ibr', 'none.ndjson'], 'the file none.ndjson cannot be read: no such file or directory'],
    [['nowhere', 'many.ndjson'], 'the demo has no registry nowhere; it has ibr, ess, disability'],
    [
      ['ess', 'many.ndjson'],
      'the request was refused: err.request.not_found: this operation is not served by this registry (HTTP 404)',
    ],
  ])('%j is refused', async (words, message) => {
    const { code, stdout, stderr } = await enrol(...words)
    expect([code, stdout, stderr.split('\n').at(-2)]).toEqual([1, '', `rollcall: ${message}`])
  })
})

test('enrol says how far it came when a registry of another make fails in the middle', async () => {
  const taking: Respond = ({ body: { header, message } }) => ({
    header: { message_id: 'm-1', message_ts: header.message_ts, action: 'notify', status: 'succ' },
    message: {
      transaction_id: message.transaction_id,
      correlation_id: 'c-1',
      enrolled_response: message.enrolled_updates.beneficiaries.map((_: unknown, at: number) => {
        return { reference_id: String(at), timestamp: header.message_ts, status: 'succ' }
      }),
    },
  })
  const registry = await loopback([taking, refusing(403, 'err.request.forbidden')])
  const path = join(folder, 'two-messages.ndjson')
  await writeFile(path, `${JSON.stringify(enrolment('9002', 'Active'))}\n`.repeat(101))
  const words = ['enrol', '--url', registry.base_url, '--sender-id', 'sp.example', '--verify', 'off', path]
  const { code, stdout, stderr } = await rollcall(words, {}, '', folder)
  await registry.close()
  expect([code, stdout, stderr.split('\n').at(-2)]).toEqual([
    1,
    '',
    'rollcall: the request was refused: err.request.forbidden: because of err.request.forbidden (HTTP 403); 100 lines were answered before. Run the same command again: what was written is not written twice.',
  ])
})

test.each([
  [['--person', 'SECRET'], '--person must be a type and a value, such as UIN=8128560370'],
  [['--person', 'UIN=SECRET', '--programme', 'P', '--status'], '--status cannot be combined with --programme'],
])('enrolled %j is refused', async (words, message) => {
  const { code, stderr } = await rollcall(['enrolled', 'ibr', ...words], demo.home.env)
  expect([code, stderr]).toEqual([1, `rollcall: ${message}\n`])
})
