/** Calls that read much: few at a time, whoever asks. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type AdminCaller, adminCaller } from '../../../test/admin-api.ts'
import { type TestServer, testServer } from '../../../test/server.ts'

let server: TestServer
let caller: AdminCaller

beforeAll(async () => {
  server = await testServer()
  caller = await adminCaller(server)
})
afterAll(() => server.close())

const BUSY = '429 err.request.too_many_requests this node works on as many such calls as it may; try again later'

/**
 * Does the work while every statement on exchanges waits.
 * @param work with a function that resolves when so many statements with this text wait
 */
async function whileLocked(
  work: (untilWaiting: (statements: number, text: string) => Promise<void>) => Promise<void>,
): Promise<void> {
  const { pool } = server.database.db
  const client = await pool.connect()
  try {
    await client.query('begin')
    await client.query('lock table exchange in access exclusive mode')
    await work(async (statements, text) => {
      for (let waiting = 0; waiting < statements; ) {
        // Not in the transaction: there it would be as it was at its first look.
        const { rows } = await pool.query(
          `select count(*) as waiting from pg_stat_activity where wait_event_type = 'Lock' and strpos(query, $1) > 0`,
          [text],
        )
        waiting = rows[0].waiting
      }
    })
  } finally {
    await client.query('commit')
    client.release()
  }
}

it('what is prunable is counted by one call at a time; the others are answered at once', async () => {
  let first: ReturnType<AdminCaller['get']> | undefined
  await whileLocked(async (untilWaiting) => {
    first = caller.get('/retention/prunable', caller.tokens.operate)
    await untilWaiting(1, 'select count(*)::integer as count')
    for (const token of [caller.tokens.operate, caller.tokens.own]) {
      const { status, headers, body } = await caller.get('/retention/prunable', token)
      expect(`${status} ${body.errors[0].code} ${body.errors[0].message}`).toBe(BUSY)
      expect(headers.get('retry-after')).toBe('1')
    }
  })
  expect((await first)?.status).toBe(200)
  expect((await caller.get('/retention/prunable', caller.tokens.own)).status).toBe(200)
})

it('one operator leaves a search in the audit log to the others, and has other calls meanwhile', async () => {
  const { tokens } = caller
  const search = (token: string) => caller.get('/messages?transaction_id=tx', token)
  const running: ReturnType<typeof search>[] = []
  await whileLocked(async (untilWaiting) => {
    running.push(search(tokens.read), search(tokens.read))
    await untilWaiting(2, 'exchange.transaction_id = $1')
    for (const path of ['/messages', '/accounts']) {
      expect(await caller.refusal(path, undefined, tokens.read)).toBe(BUSY)
    }
    expect((await caller.get('/participants', tokens.read)).status).toBe(200)
    expect((await caller.get('/accounts', tokens.audit)).status).toBe(200)
  })
  const answers = await Promise.all(running)
  expect(answers.map(({ status }) => status)).toEqual([200, 200])
})
