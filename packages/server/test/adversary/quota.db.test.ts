/** Participants that ask too much: refused with 429 before their bodies are read, and nobody else with them. */
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { type RawConnection, rawConnection } from '../../../engine/test/raw-http.ts'
import { ADA } from '../civil.ts'
import { expectFault } from '../expectations.ts'
import { expectSealed, type Peer, sealingPeer, searchBy, sendAs, signedBody } from '../sealing.ts'
import { type Answer, type TestServer, writeDocuments } from '../server.ts'
import { expectNothingLeaked, world } from './world.ts'

let server: TestServer
let ada: Peer

beforeAll(async () => {
  server = await world({ limits: { request_timeout: 5, total_bytes: 1_048_576 } })
  ada = await sealingPeer(server, 'ada.example')
})

afterEach(() => void vi.restoreAllMocks())
afterAll(() => server.close())

const search = (by: Peer): Promise<Answer> => sendAs(server, by, signedBody(by, searchBy(by)))

it('over its rate: 429 with Retry-After, and others are served', async () => {
  const busy = await sealingPeer(server, 'busy.example', { settings: { rate_limit: 3 } })
  const answers = await Promise.all(Array.from({ length: 12 }, () => search(busy)))
  const refused = answers.filter(({ status }) => status !== 200)
  expect(refused.length).toBeGreaterThan(5)
  for (const answer of refused) {
    const text = 'too many requests: at most 3 requests of a participant a second'
    expectFault(answer, 429, 'err.request.too_many_requests', text)
    expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
  }
  await expectSealed(server, await search(ada))
  expectNothingLeaked(server, [ada, busy], refused)
})

it('too many at a time: 429 with Retry-After, also when the others send their bodies slowly', async () => {
  const slow = await sealingPeer(server, 'slow.example', { settings: { concurrency_limit: 2 } })
  const head = `POST /civil/v1.0.0/registry/sync/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${slow.token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`
  const entered = vi.spyOn(server.context.quota, 'enter')
  const open: RawConnection[] = []
  for (let index = 0; index < 2; index += 1) {
    const raw = await rawConnection(server.running.port)
    raw.write(head)
    open.push(raw)
  }
  // Not asked before both are in: the question would take the place of one.
  await expect.poll(() => entered.mock.settledResults).toEqual(Array(2).fill(expect.objectContaining({ type: 'fulfilled' })))
  const answer = await search(slow)
  const text = 'too many requests: at most 2 requests of a participant at a time'
  expectFault(answer, 429, 'err.request.too_many_requests', text)
  expect(answer.headers.get('retry-after')).toBe('1')
  await expectSealed(server, await search(ada))
  for (const raw of open) raw.destroy()
  await expect.poll(async () => (await search(slow)).status).toBe(200)
  expectNothingLeaked(server, [ada, slow], [answer])
})

it('too many bytes at a time: 429 with Retry-After, of plain bodies and of files, and others are served', async () => {
  const large = await sealingPeer(server, 'large.example')
  const begin = async (path: string, type: string, ...pieces: readonly string[]) => {
    const raw = await rawConnection(server.running.port)
    const head = `POST /civil/v1.0.0/registry/${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${large.token}\r\n`
    raw.write(head, `Content-Type: ${type}\r\nContent-Length: 900000\r\n\r\n`, ...pieces)
    return raw
  }
  const plain = await begin('sync/search', 'application/json', ' '.repeat(524_000))
  // Not asked before it is in.
  await plain.taken()
  const text = 'too many requests: at most 524288 bytes of a participant at a time'
  const part = '--b\r\nContent-Disposition: form-data; name="envelope"\r\n\r\n'
  const file = await begin('search', 'multipart/form-data; boundary=b', part, ' '.repeat(60_000))
  const { status, headers, body } = await file.response()
  expect([status, headers.get('retry-after')]).toEqual([429, '1'])
  const error = { code: 'err.request.too_many_requests', message: text }
  expect(JSON.parse(body).message.error).toEqual(error)
  const answer = await search(large)
  expectFault(answer, 429, 'err.request.too_many_requests', text)
  await expectSealed(server, await search(ada))
  for (const raw of [plain, file]) raw.destroy()
  await expect.poll(async () => (await search(large)).status).toBe(200)
  expectNothingLeaked(server, [ada, large], [answer])
})

it('an answer that nobody reads counts with its bytes until it is read, and others are served', async () => {
  const lazy = await sealingPeer(server, 'lazy.example')
  const long = { ...ADA, identifier: [{ identifier_type: 'UIN', identifier_value: 'LONG' }], note: 'x'.repeat(1_000_000) }
  await writeDocuments(server.database, await requireRegistry(server.database.db, 'civil'), [long])
  const { header, message } = searchBy(lazy, { header: { total_count: 8 } }, { type: 'UIN', value: 'LONG' })
  const search_request = Array.from({ length: 8 }, (_, at) => ({ ...message.search_request[0], reference_id: `r-${at}` }))
  const body = signedBody(lazy, { header, message: { ...message, search_request } })
  const raw = await rawConnection(server.running.port)
  raw.socket.pause()
  const head = `POST /civil/v1.0.0/registry/sync/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${lazy.token}\r\n`
  raw.write(head, `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`, body)
  await expect.poll(() => raw.socket.readableLength).toBeGreaterThan(0)
  const answer = await search(lazy)
  const text = 'too many requests: at most 524288 bytes of a participant at a time'
  expectFault(answer, 429, 'err.request.too_many_requests', text)
  await expectSealed(server, await search(ada))
  raw.socket.resume()
  expect((await raw.response()).status).toBe(200)
  await expect.poll(async () => (await search(lazy)).status).toBe(200)
  raw.destroy()
  expectNothingLeaked(server, [ada, lazy], [answer])
})

it('requests whose connection ends before their answers are written are not in flight any more', async () => {
  const hasty = await sealingPeer(server, 'hasty.example', { settings: { concurrency_limit: 3 } })
  const request = (): string => {
    const body = signedBody(hasty, searchBy(hasty))
    const head = `POST /civil/v1.0.0/registry/sync/search HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${hasty.token}\r\n`
    return `${head}Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
  }
  const raw = await rawConnection(server.running.port)
  raw.write(request(), request(), request())
  await raw.taken()
  raw.destroy()
  const three = async () => (await Promise.all([search(hasty), search(hasty), search(hasty)])).map(({ status }) => status)
  await expect.poll(three).toEqual([200, 200, 200])
})

it('nobody without a token uses up anything', async () => {
  const one = await sealingPeer(server, 'one.example', { settings: { rate_limit: 2 } })
  const body = signedBody(one, searchBy(one))
  for (let index = 0; index < 20; index += 1) {
    const answer = await sendAs(server, { ...one, token: `${one.token}x` }, body)
    const text = 'Authorization: the access token is not valid here or has expired; ask for a new one'
    expectFault(answer, 401, 'err.request.unauthorized', text)
  }
  await expectSealed(server, await sendAs(server, one, body))
})
