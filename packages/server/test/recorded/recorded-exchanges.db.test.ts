/**
 * Exchanges that were recorded once and are answered the same ever since, except for ids, times, signatures and
 * human-readable texts. A change that is meant is recorded with `npx vitest run packages/server/test/recorded -u`, and
 * the difference is read in the commit.
 */
import { KINDS, type Kind } from '@rollcall/protocol'
import { generate } from '@rollcall/synthetic'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { encrypted, opened, publishedKey, searchBy, sendAs, signedBody } from '../sealing.ts'
import { bearer, post, type TestParticipant } from '../server.ts'
import { conversations } from './asynchronous.ts'
import { masked, recorded } from './masks.ts'
import { personQuestions } from './persons.ts'
import { subscriptions } from './subscriptions.ts'
import { questionsOf, type Row, refusals, searches, strays, tokenRequests } from './synchronous.ts'
import { openWorld, RECORDS, SEED, type World } from './world.ts'

let world: World
beforeAll(async () => {
  world = await openWorld()
})
afterAll(() => world.close())

/** Asks every row in its order and compares all answers with the recorded file. */
async function compare(file: string, rows: readonly Row[]): Promise<void> {
  const answers: Record<string, unknown> = {}
  for (const { name, path, body, headers } of rows) {
    expect(answers).not.toHaveProperty([name])
    answers[name] = recorded(await post(`${world.server.url}/${path}`, body, headers), sentIn(body))
  }
  await expectFile(file, answers)
}

/** One line for each exchange, so that a difference names it. */
function expectFile(file: string, content: object): Promise<void> {
  const lines = Object.entries(content).map(([name, one]) => `${JSON.stringify(name)}: ${JSON.stringify(one)}`)
  return expect(`{\n${lines.join(',\n')}\n}\n`).toMatchFileSnapshot(`../../../../conformance/exchanges/${file}.json`)
}

/** Ids and times of a request, so that an answer which repeats one is recorded as such. */
function sentIn(body: unknown): ReadonlySet<unknown> {
  if (typeof body !== 'object' || body === null) return new Set()
  return new Set(JSON.stringify(body).match(/tx-[\w-]+/g) ?? [])
}

it.each(KINDS.map((kind) => [kind.name, kind] as const))('%s: every question', async (name, kind: Kind) => {
  const documents = [...generate(name, { count: RECORDS, seed: SEED })]
  await compare(`search-${name}`, searches(world.plain, kind, questionsOf(kind, documents)))
})

it('questions about one person', () => compare('persons', personQuestions(world.plain)))
it('every exit of a synchronous request', () => compare('refusals', refusals(world.plain)))
it('requests that go astray', () => compare('strays', strays(world.plain)))
it('requests for a token', () => compare('tokens', tokenRequests(world.plain)))

it('asynchronous requests, their callbacks, and questions about them', async () => {
  await expectFile('asynchronous', await conversations(world))
})

it('subscriptions, their ends, and questions about them', async () => {
  await expectFile('subscriptions', await subscriptions(world))
})

it('signed and encrypted messages', async () => {
  const { server, sealed } = world
  const key = await publishedKey(server, 'RSA-OAEP-256')
  const search = () => searchBy(sealed, {}, world.identifier)
  const both = await sendAs(server, sealed, signedBody(sealed, encrypted(search(), key)))
  const altered = signedBody(sealed, search()).replace('"tx-1"', '"tx-2"')
  await expectFile('sealed', {
    signed: recorded(await sendAs(server, sealed, signedBody(sealed, search()))),
    unsigned: recorded(await sendAs(server, sealed, search())),
    altered: recorded(await sendAs(server, sealed, altered)),
    'signed and encrypted': { status: both.status, message: masked(opened(both, sealed)) },
  })
})

it('callbacks that come to us', async () => {
  const { plain } = world
  const rows = ['notify', 'on-search', 'on-subscribe', 'txn/on-status'].map(
    (operation): Row => ({
      name: operation,
      path: `civil/v1.0.0/registry/${operation}`,
      body: bare(plain, operation),
      headers: bearer(plain),
    }),
  )
  await compare('others', rows)
})

const bare = ({ sender_id }: TestParticipant, action: string): object => ({
  header: {
    version: '1.0.0',
    message_id: `bare-${action}`,
    message_ts: '2026-02-03T09:15:00.000Z',
    action,
    status: 'succ',
    sender_id,
    total_count: 0,
    completed_count: 0,
  },
  message: { transaction_id: 'tx-bare', correlation_id: 'c-1', search_response: [], subscribe_response: [] },
})
