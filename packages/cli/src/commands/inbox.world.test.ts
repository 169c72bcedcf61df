import { listInbox, showInboxMessage } from '@rollcall/admin/callbacks/inbox'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, MASTER_KEY, post, type TestServer, testServer } from '../../../server/test/server.ts'
import { databaseUrl, rollcall, rollcallJson } from '../../test/command.ts'
import { described } from '../../test/described.ts'

let server: TestServer
let env: Record<string, string>

beforeAll(async () => {
  server = await testServer()
  env = { DATABASE_URL: databaseUrl(server.database.connection), ROLLCALL_MASTER_KEY: MASTER_KEY }
  await server.registry('civil')
  const url = `${server.url}/civil/v1.0.0/registry`
  for (const sender_id of ['a.example', 'b.example']) {
    const sender = await server.participant(sender_id)
    const header = { message_ts: new Date().toISOString(), sender_id, status: 'succ' }
    const event = {
      reference_id: 'e-1',
      timestamp: header.message_ts,
      data: { reg_record_type: 'Person', reg_records: { name: 'Okoro' } },
    }
    const notify = {
      header: { ...header, message_id: 'm-1', action: 'notify' },
      message: { transaction_id: 'tx-1', notify_event: [event] },
    }
    expect((await post(`${url}/notify`, notify, bearer(sender))).status).toBe(200)
    const rejected = { header: { ...header, message_id: `r-${sender_id}`, action: 'on-search', status: 'rjct' } }
    expect((await post(`${url}/on-search`, rejected, bearer(sender))).status).toBe(200)
  }
})
afterAll(() => server.close())

const inbox = (...words: string[]) => rollcallJson(['inbox', ...words], env)
const idsOf = (rows: { participant: string; message_id: string }[]) =>
  rows.map(({ participant, message_id }) => `${participant} ${message_id}`)

test('lists are chosen and bounded, and say nothing of what was sent', async () => {
  const all = described(listInbox, await inbox('list'))
  described(showInboxMessage, await inbox('show', 'r-a.example', '--body'))
  expect(idsOf(all)).toEqual(['b.example r-b.example', 'b.example m-1', 'a.example r-a.example', 'a.example m-1'])
  expect(all[1]).toMatchObject({ callback: 'notify', registry: 'civil', state: 'stored', transaction_id: 'tx-1' })
  const chosen = await inbox('list', '--participant', 'a.example', '--callback', 'on-search', '--state', 'quarantined')
  expect(idsOf(chosen)).toEqual(['a.example r-a.example'])
  expect(await inbox('list', '--until', '2020-01-01')).toEqual([])
  expect(await inbox('list', '--since', '2020-01-01', '--limit', '1')).toHaveLength(1)
  const { stdout } = await rollcall(['inbox', 'list', '--limit', '3'], env)
  expect(stdout).toContain('there are more; --limit shows them')
  expect(stdout).not.toContain('Okoro')
})

test('a list of what a participant sent that nobody is, is refused', async () => {
  const { code, stderr } = await rollcall(['inbox', 'list', '--participant', 'c.example'], env)
  expect({ code, stderr }).toEqual({
    code: 1,
    stderr: 'rollcall: no participant has sender_id c.example; the nearest is a.example\n',
  })
})

test('one is shown, and its body only when that is asked for', async () => {
  const words = ['inbox', 'show', 'm-1', '--participant', 'a.example']
  const shown = await rollcall(words, env)
  expect(shown.code).toBe(0)
  expect(shown.stdout).toContain('state: stored')
  expect(shown.stdout).not.toContain('Okoro')
  expect(await rollcallJson([...words, '--body'], env)).toMatchObject({
    participant: 'a.example',
    body: { header: { message_id: 'm-1' }, message: { notify_event: [{ data: { reg_records: { name: 'Okoro' } } }] } },
  })
})

test.each([
  [['nothing'], 'there is no message nothing in the inbox'],
  [['m-1'], 'several participants sent a message m-1: participant must be one of a.example, b.example'],
  [['m-1', '--participant', 'c.example'], 'there is no message m-1 in the inbox'],
])('inbox show %j fails in one line', async (words, message) => {
  const { code, stdout, stderr } = await rollcall(['inbox', 'show', ...words], env)
  expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: '', stderr: `rollcall: ${message}\n` })
})
