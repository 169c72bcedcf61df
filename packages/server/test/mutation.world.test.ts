import { randomUUID } from 'node:crypto'
/**
 * Whatever is sent, the answer has one of the two documented shapes, comes soon, and gives nobody a record whose
 * identifier was not asked for. Random mutations of valid messages, over HTTP, at the real server.
 */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import {
  CallbackHeader,
  CODES,
  canonicalJson,
  ErrorAnswer,
  type JsonValue,
  KINDS,
  kindNamed,
  resolveRecordType,
  SearchResponse,
  validator,
} from '@rollcall/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { FIXTURES, type Fixture, fold, PERSONAL } from './mutation-records.ts'
import { everyReplacement, someByteMutation, someHeaders, someTreeMutation, textOf, treeOf } from './mutations.ts'
import { searchRequest, type TestParticipant, type TestServer, testServer } from './server.ts'

/** An answer that takes longer counts as none. Milliseconds. */
const PATIENCE = 60_000
/** Runs of each property; more of them by hand, to look for what a short search misses. */
const RUNS = Number(process.env.ROLLCALL_MUTATIONS ?? 300)
/** Milliseconds after which a test counts as one that hangs: a busy machine takes many times as long. */
const TIME = 600_000 + RUNS * 60

let server: TestServer
let peer: TestParticipant
const agent = new Agent({ keepAlive: true, maxSockets: 4 })

beforeAll(async () => {
  server = await testServer({ limits: { body_bytes: 1_000_000, participant_rate: 1_000_000 } })
  peer = await server.participant('mutation.example')
  for (const { name } of KINDS) {
    const documents = FIXTURES.filter(({ kind }) => kind === name).map(({ document }) => document)
    await server.registry(name, documents)
  }
})

afterAll(async () => {
  agent.destroy()
  await server.close()
})

interface Sent {
  readonly kind: string
  readonly body: Buffer
  readonly headers: Record<string, string | string[]>
}

interface Received {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

function send({ kind, body, headers }: Sent): Promise<Received> {
  return new Promise((resolve, reject) => {
    const path = `/${kind}/v1.0.0/registry/sync/search`
    const length = 'Transfer-Encoding' in headers ? {} : { 'Content-Length': String(body.length) }
    const outgoing = request(
      { port: server.running.port, path, method: 'POST', agent, headers: { ...headers, ...length } },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          clearTimeout(timer)
          const text = Buffer.concat(chunks).toString()
          resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
        })
      },
    )
    const timer = setTimeout(() => outgoing.destroy(new Error(`no answer within ${PATIENCE} ms`)), PATIENCE)
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

const bearer = () => `Bearer ${peer.token}`
const plain = () => ({ 'Content-Type': 'application/json', Authorization: bearer() })

/** A valid request: its registry and its message, of one to three items, in several spellings of the same search. */
const someRequest: fc.Arbitrary<{ kind: string; message: () => object }> = fc
  .record({
    fixture: fc.constantFrom(...FIXTURES),
    which: fc.nat(),
    spelling: fc.constantFrom<(type: string, value: string) => object>(
      (type, value) => ({ type, value }),
      (type, value) => ({ identifier_type: type, identifier_value: value }),
      (type, value) => ({ field: type, operator: 'eq', value }),
      (type, value) => ({ type: 'idtype-value', value: { id_type: type, id_value: value } }),
    ),
    more: fc.record({ paged: fc.boolean(), sorted: fc.boolean(), local: fc.boolean() }),
    items: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ fixture, which, spelling, more, items }) => ({
    kind: fixture.kind,
    message: () => validMessage(fixture, which, spelling, more, items),
  }))

function validMessage(
  { kind, recordType, bears }: Fixture,
  which: number,
  spelling: (type: string, value: string) => object,
  { paged, sorted, local }: { paged: boolean; sorted: boolean; local: boolean },
  items: number,
): object {
  const [type, value] = bears[which % bears.length] ?? ['', '']
  const hosted = kindNamed(kind)
  const asked = hosted && resolveRecordType(hosted, recordType)
  const sortable = asked?.attributes.find((attribute) => attribute.sortable)
  const { header, message } = searchRequest(peer.sender_id, spelling(type, value), {
    header: { total_count: items, receiver_id: `${kind}.example` },
    criteria: {
      reg_record_type: recordType,
      ...(paged && { pagination: { page_size: 5, page_number: 1 } }),
      ...(sorted && { sort: [{ attribute_name: sortable?.name, sort_order: 'desc' }] }),
      consent: { ts: '2026-02-03T09:15:00Z', purpose: { text: 'x', code: 'y' } },
    },
    ...(local && { item: { locale: 'eng' } }),
  })
  const [item] = message.search_request
  const search_request = Array.from({ length: items }, (_, index) => ({ ...item, reference_id: `r-${index}` }))
  return { header, message: { ...message, search_request } }
}

const errorAnswers = validator(ErrorAnswer)
const callbackHeaders = validator(CallbackHeader)
const searchResponses = validator(SearchResponse)

/** Texts that no answer may have: frames of a stack, paths of this machine, words of SQL. */
const INNARDS = new RegExp(
  `\\bat [^"]{1,200}\\.[jt]s:\\d+:\\d|node:internal|${import.meta.dirname.replace(/packages.*/, '')}|syntax error at|relation "`,
)
/** The closer statuses of err.request.bad (docs/codes.md). */
const CLOSER_STATUS = [405, 413, 415]

function check(sent: Sent, { status, headers, text }: Received): void {
  expect(headers['content-type']).toBe('application/json')
  expect(headers['cache-control']).toBe('no-store')
  expect(text).not.toMatch(INNARDS)
  const answer = JSON.parse(text)
  if (status === 200) checkReply(sent, answer)
  else checkRefusal(status, answer, headers)
}

// biome-ignore lint/suspicious/noExplicitAny: the shape is what is checked here
function checkReply(sent: Sent, answer: any): void {
  expect(callbackHeaders.problem(answer.header, 'header')).toBeNull()
  expect(searchResponses.problem(answer.message, 'message')).toBeNull()
  expect(Object.keys(answer).sort()).toEqual(['header', 'message', 'signature'])
  expect(answer.header.receiver_id).toBe(peer.sender_id)
  checkItems(sent, answer)
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function checkRefusal(status: number, answer: any, headers: IncomingHttpHeaders): void {
  expect(errorAnswers.problem(answer, '')).toBeNull()
  const { code, message } = answer.message.error
  expect(answer.errors).toEqual([{ code, message }])
  expect(message.length).toBeLessThanOrEqual(999)
  const row = CODES.find((candidate) => candidate.where === 'ack' && candidate.code === code)
  const usual = row !== undefined && 'http_status' in row ? row.http_status : undefined
  expect([usual, ...(code === 'err.request.bad' ? CLOSER_STATUS : [])]).toContain(status)
  // 500 and 503 say that the server is at fault, and it never is for what somebody sent.
  expect(status).toBeLessThan(500)
  expect(headers['www-authenticate'] ?? '').toMatch(status === 401 ? /^Bearer( error="invalid_token")?$/ : /^$/)
}

// biome-ignore lint/suspicious/noExplicitAny: as above
function checkItems(sent: Sent, { header, message }: any): void {
  const items = message.search_response as { [member: string]: JsonValue }[]
  if (items.length === 0) {
    // An empty batch, or a header that was rejected.
    if (header.status === 'rjct') expect(header.status_reason_code).toMatch(/^rjct\./)
    return
  }
  const asked = itemsAsked(sent.body)
  expect(items).toHaveLength(asked.length)
  items.forEach((item, index) => {
    if (item.status !== 'succ') {
      expect([item.status, item.status_reason_code, item.data]).toEqual(['rjct', expect.stringMatching(/^rjct\./), undefined])
      return
    }
    const data = item.data as { reg_record_type: string; reg_records: JsonValue[] }
    const { page_size, total_count } = item.pagination as { page_size: number; total_count: number }
    expect(data.reg_records.length).toBeLessThanOrEqual(Math.min(page_size, total_count, 100))
    for (const record of data.reg_records) checkBearer(sent.kind, data.reg_record_type, record, asked[index])
  })
}

const fixtures = new Map(FIXTURES.map((fixture) => [canonicalJson(fixture.document), fixture]))

/** The record is of this registry and of the type that is said, and bears an identifier that the item names. */
function checkBearer(kindName: string, recordType: string, record: JsonValue, item: unknown): void {
  const fixture = fixtures.get(canonicalJson(record))
  const kind = kindNamed(kindName)
  if (fixture === undefined || kind === undefined) throw new Error('an answer holds what is no record of ours')
  expect(fixture.kind).toBe(kindName)
  expect(resolveRecordType(kind, recordType)).toBe(resolveRecordType(kind, fixture.recordType))
  const { search_criteria } = item as { search_criteria: { query: JsonValue } }
  const words = scalars(search_criteria.query)
  const types = words.map((word) =>
    word
      .slice(word.lastIndexOf(':') + 1)
      .trim()
      .toUpperCase(),
  )
  const named = kind.identifier_types
    .filter(({ name, aliases = [] }) => [name, ...aliases].some((known) => types.includes(known.toUpperCase())))
    .map(({ name }) => name)
  const values = words.map(fold)
  // A query that names no type asks for a value of any.
  const isAsked = (type: string): boolean => named.length === 0 || named.includes(type)
  const borne = fixture.bears.filter(([type, value]) => isAsked(type) && values.includes(fold(value)))
  expect(borne, `the query ${JSON.stringify(search_criteria.query)} was answered`).not.toEqual([])
}

function itemsAsked(body: Buffer): unknown[] {
  const { message } = JSON.parse(body.toString().replace(/^\ufeff/, ''), keepDigits as (key: string) => unknown)
  return [message.search_request].flat()
}

/** Numbers by their digits, where JSON.parse rounds them. */
function keepDigits(_key: string, value: unknown, context: { source?: string }): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) ? context.source : value
}

function scalars(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(scalars)
  return [String(value)]
}

/** fast-check prints the seed and the smallest failing case. */
const settings = { numRuns: RUNS, interruptAfterTimeLimit: TIME - 5_000, markInterruptAsFailure: true }

it('valid messages find their records, so that there is something to mutate', async () => {
  await fc.assert(
    fc.asyncProperty(someRequest, async ({ kind, message }) => {
      const sent = { kind, body: Buffer.from(textOf(treeOf(message()))), headers: plain() }
      const received = await send(sent)
      check(sent, received)
      for (const item of JSON.parse(received.text).message.search_response) {
        expect(item.data.reg_records).not.toEqual([])
      }
    }),
    { numRuns: 150 },
  )
})

it('every hostile value in every place of a message, and whoever is known in every place of a query', {
  timeout: TIME,
}, async () => {
  const [fixture] = FIXTURES as [Fixture, ...Fixture[]]
  const more = { paged: true, sorted: true, local: true }
  const valid = validMessage(fixture, 0, (type, value) => ({ type, value }), more, 1)
  const { message_id } = (valid as { header: { message_id: string } }).header
  const bodies = everyReplacement(treeOf(valid))
  let repeated = 0
  const worker = async (): Promise<void> => {
    for (const body of bodies) {
      // Each is a message of its own; else all but the first would only be told that their id was used.
      const text = body.replace(message_id, `m-${randomUUID()}`)
      const sent = { kind: fixture.kind, body: Buffer.from(text), headers: plain() }
      const received = await send(sent)
      if (received.text.includes('rjct.message_id.duplicate')) repeated += 1
      try {
        check(sent, received)
      } catch (cause) {
        throw new Error(`${text.slice(0, 2_000)}\n-> ${received.status} ${received.text.slice(0, 2_000)}`, { cause })
      }
    }
  }
  await Promise.all([worker(), worker(), worker(), worker()])
  expect(repeated).toBe(0)
})

it('mutated members and values', { timeout: TIME }, async () => {
  await fc.assert(
    fc.asyncProperty(someRequest, someTreeMutation, async ({ kind, message }, mutate) => {
      const sent = { kind, body: Buffer.from(textOf(mutate(treeOf(message())))), headers: plain() }
      check(sent, await send(sent))
    }),
    settings,
  )
})

it('mutated bytes', { timeout: TIME }, async () => {
  await fc.assert(
    fc.asyncProperty(someRequest, someByteMutation, async ({ kind, message }, mutate) => {
      const sent = { kind, body: mutate(Buffer.from(JSON.stringify(message()))), headers: plain() }
      check(sent, await send(sent))
    }),
    settings,
  )
})

it('mutated headers, with a message that may be mutated as well', { timeout: TIME }, async () => {
  await fc.assert(
    fc.asyncProperty(someRequest, someHeaders, fc.option(someTreeMutation), async ({ kind, message }, bend, mutate) => {
      const tree = treeOf(message())
      const body = Buffer.from(textOf(mutate === null ? tree : mutate(tree)))
      const sent = { kind, body, headers: bend(bearer()) }
      check(sent, await send(sent))
    }),
    { ...settings, numRuns: Math.ceil(RUNS / 2) },
  )
})

/** Ids are random: their digits mean nobody. */
const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

it('nothing of all that is in the log, and the server is well', async () => {
  const lines = server.logged().replaceAll(UUID, '').split('\n')
  expect(lines.length).toBeGreaterThan(RUNS)
  expect(lines.filter((line) => PERSONAL.test(line) || /"level":"(error|fatal)"/.test(line))).toEqual([])
  expect((await fetch(`${server.url}/ready`)).status).toBe(200)
})
