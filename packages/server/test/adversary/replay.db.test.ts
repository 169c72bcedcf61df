/** Messages that are sent again: by their sender, by somebody else, to another place, with another content. */
import { openDatabase } from '@rollcall/database/database'
import { createLog } from '@rollcall/observe/log'
import { afterAll, describe, expect, it } from 'vitest'
import { storedEntries } from '../../../settings/test/audit-log.ts'
import { testConfig } from '../../../settings/test/config.ts'
import { createContext } from '../../src/app/context.ts'
import { startServer } from '../../src/app/serve.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, searchBy, sendAs, signedBody } from '../sealing.ts'
import { type Answer, MASTER_KEY, QUIET, type TestServer } from '../server.ts'
import { adversary } from './world.ts'

const { server, peer, refused } = await adversary()
const ada = await peer('ada.example')
const eve = await peer('eve.example')

/** Another node on the same database. */
const elsewhere = await otherNode()

async function otherNode(): Promise<Pick<TestServer, 'url'>> {
  const db = openDatabase(server.database.connection)
  const config = testConfig({ PORT: '0', ADMIN_PORT: '0', ROLLCALL_ROLE: 'http', ROLLCALL_MASTER_KEY: MASTER_KEY })
  const context = await createContext(config, db, { log: createLog({ level: 'silent' }) })
  const running = await startServer(config, context, QUIET)
  afterAll(async () => {
    await running.stop()
    await db.close()
  })
  return { url: `http://127.0.0.1:${running.port}` }
}

/** Sends bodies at once, to one node and the other in turn. */
const sendToBoth = (bodies: readonly string[]): Promise<Answer[]> =>
  Promise.all(bodies.map((body, index) => sendAs(index % 2 === 0 ? server : elsewhere, ada, body)))

/** The audit entries of the answers to a message, and of those that were withheld, in one chain for each node. */
async function entriesOf(message_id: string) {
  const all = await storedEntries(server.database.db)
  const answers = all.filter(({ entry }) => entry.request?.message_id === message_id)
  const replies = new Set(answers.map(({ entry }) => entry.reply?.message_id))
  const unsent = all.filter(({ entry }) => entry.kind === 'unsent' && replies.has(entry.reply?.message_id))
  return { answers, unsent, chains: new Set(all.map(({ chain }) => chain)).size }
}

async function expectDuplicate(answer: Answer, namespace = 'civil'): Promise<void> {
  refused.push(answer)
  await expectSealed(server, answer, `${namespace}.example`)
  expect(answer.body.header).toMatchObject({
    status: 'rjct',
    status_reason_code: 'rjct.message_id.duplicate',
    status_reason_message: 'header.message_id: was used before for another message',
    total_count: 0,
    completed_count: 0,
  })
  expect(answer.body.message.search_response).toEqual([])
}

const correlationOf = (answer: Answer): string => {
  expect(answer.body.header?.status, JSON.stringify(answer.body)).toBe('succ')
  return answer.body.message.correlation_id
}

const records = async (): Promise<number> =>
  Number((await server.database.db.pool.query('select count(*) from exchange')).rows[0].count)

describe('the same message again', () => {
  it('byte for byte: answered again, with the correlation_id of the first', async () => {
    const body = signedBody(ada, searchBy(ada))
    const [first, again] = [await sendAs(server, ada, body), await sendAs(server, ada, body)]
    expect(correlationOf(again)).toBe(correlationOf(first))
    expect(again.body.message.search_response[0].data).toEqual(first.body.message.search_response[0].data)
    expect(again.body.header.message_id).not.toBe(first.body.header.message_id)
  })

  it('signed anew, its members in another order: the same message', async () => {
    const sent = searchBy(ada)
    const first = await sendAs(server, ada, signedBody(ada, sent))
    const header = Object.fromEntries(Object.entries(sent.header).reverse())
    const parameters = { created: Math.floor(Date.now() / 1_000) - 5 }
    const again = await sendAs(server, ada, signedBody(ada, { header, message: sent.message }, { parameters }))
    expect(correlationOf(again)).toBe(correlationOf(first))
  })

  it('with a header that is rejected: the correlation_id of the first all the same', async () => {
    const body = signedBody(ada, searchBy(ada, { header: { total_count: 7 } }))
    const [first, again] = [await sendAs(server, ada, body), await sendAs(server, ada, body)]
    expect(first.body.header.status_reason_code).toBe('rjct.total_count.invalid')
    expect(again.body.message).toEqual(first.body.message)
  })

  it('twenty twins at once are one exchange', async () => {
    const sent = searchBy(ada)
    const body = signedBody(ada, sent)
    const before = await records()
    const answers = await sendToBoth(Array.from({ length: 20 }, () => body))
    const ids = new Set(answers.map(correlationOf))
    expect(ids.size).toBe(1)
    expect(await records()).toBe(before + 1)
    const { answers: entries } = await entriesOf(sent.header.message_id)
    expect(entries.map(({ entry }) => [entry.kind, entry.correlation_id])).toEqual(answers.map(() => ['answer', [...ids][0]]))
  })

  it('of twins with different contents one is answered, the others are duplicates', async () => {
    const { header, message } = searchBy(ada)
    const bodies = Array.from({ length: 20 }, (_, index) =>
      signedBody(ada, { header, message: { ...message, transaction_id: `tx-${index}` } }),
    )
    const answers = await sendToBoth(bodies)
    expect(answers.filter(({ body }) => body.header.status === 'succ')).toHaveLength(1)
    for (const answer of answers.filter(({ body }) => body.header.status !== 'succ')) await expectDuplicate(answer)
    // Who was looked up for an answer that was withheld is in the log, and that it was not sent.
    const { answers: entries, unsent, chains } = await entriesOf(header.message_id)
    expect([entries.length, unsent.length, chains]).toEqual([20, 19, 2])
    expect(entries.every(({ persons }) => persons.length > 0)).toBe(true)
  })

  it('that an earlier version remembered: under the correlation_id of the first, in the answer and in the log', async () => {
    const sent = searchBy(ada)
    const body = signedBody(ada, sent)
    correlationOf(await sendAs(server, ada, body))
    const { rows } = await server.database.db.pool.query<{ id: string }>(
      'update exchange set correlation_id = gen_random_uuid() where message_id = $1 returning correlation_id as id',
      [sent.header.message_id],
    )
    const again = await sendAs(server, ada, body)
    await expectSealed(server, again)
    expect(correlationOf(again)).toBe(rows[0]?.id)
    const { answers, unsent } = await entriesOf(sent.header.message_id)
    expect(answers.at(-1)?.entry).toMatchObject({
      correlation_id: rows[0]?.id,
      reply: { message_id: again.body.header.message_id },
    })
    expect([answers.length, unsent.length]).toEqual([2, 0])
  })

  it('that was refused: its message_id is taken all the same', async () => {
    const sent = searchBy(ada)
    const refusedFirst = { header: sent.header, message: { ...sent.message, search_request: [] } }
    const answer = await sendAs(server, ada, signedBody(ada, refusedFirst))
    refused.push(answer)
    expectFault(answer, 400, 'err.request.bad', 'message.search_request: must have at least one item')
    await expectDuplicate(await sendAs(server, ada, signedBody(ada, sent)))
  })
})

describe('the same message_id', () => {
  it.each([
    ['another query', { criteria: { query: { type: 'UIN', value: 'secret-word' } } }],
    ['another transaction_id', { message: { transaction_id: 'tx-2' } }],
    ['another header', { header: { meta: { attempt: 2 } } }],
  ])('%s', async (_name, changes) => {
    const first = searchBy(ada)
    correlationOf(await sendAs(server, ada, signedBody(ada, first)))
    const { message_id, message_ts } = first.header
    const header = { message_id, message_ts, ...('header' in changes ? changes.header : {}) }
    const other = searchBy(ada, { ...changes, header })
    await expectDuplicate(await sendAs(server, ada, signedBody(ada, other)))
  })

  it('the same message to another registry', async () => {
    const body = signedBody(ada, searchBy(ada))
    correlationOf(await sendAs(server, ada, body))
    await expectDuplicate(await sendAs(server, ada, body, 'civil-two'), 'civil-two')
  })

  it('of another participant is another message', async () => {
    const { header } = searchBy(ada)
    const first = await sendAs(server, ada, signedBody(ada, searchBy(ada, { header: { message_id: header.message_id } })))
    const other = searchBy(eve, { header: { message_id: header.message_id } })
    const second = await sendAs(server, eve, signedBody(eve, other))
    expect(correlationOf(second)).not.toBe(correlationOf(first))
  })

  it('a refused message takes no message_id: whoever cannot sign cannot spoil it', async () => {
    const sent = searchBy(ada)
    const before = await records()
    const spoilt = signedBody(ada, sent).replace('"tx-1"', '"tx-2"')
    const answer = await sendAs(server, ada, spoilt)
    refused.push(answer)
    const text = 'signature: the signature does not belong to this header and message'
    expectFault(answer, 401, 'err.signature.invalid', text)
    expect(await records()).toBe(before)
    correlationOf(await sendAs(server, ada, signedBody(ada, sent)))
  })
})

describe('somewhere else', () => {
  it('under the token of another participant', async () => {
    const body = signedBody(ada, searchBy(ada))
    correlationOf(await sendAs(server, ada, body))
    const answer = await sendAs(server, eve, body)
    refused.push(answer)
    const text = 'header.sender_id: must be the participant that the access token was issued to'
    expectFault(answer, 403, 'err.sender_id.invalid', text)
  })

  it('signed for one registry and sent to another', async () => {
    const sent = searchBy(ada, { header: { receiver_id: 'civil.example' } })
    const answer = await sendAs(server, ada, signedBody(ada, sent), 'civil-two')
    refused.push(answer)
    expectFault(answer, 400, 'err.receiver_id.invalid', 'header.receiver_id: is not this registry')
    correlationOf(await sendAs(server, ada, signedBody(ada, sent)))
  })

  it('a reply of ours is no request', async () => {
    const reply = await sendAs(server, ada, signedBody(ada, searchBy(ada)))
    const answer = await sendAs(server, ada, reply.body)
    const text = 'header.sender_id: must be the participant that the access token was issued to'
    expectFault(answer, 403, 'err.sender_id.invalid', text)
  })
})
