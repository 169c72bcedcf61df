/** The whole example in a process of its own, against the real server with the people of the demo. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { generateLines } from '@rollcall/synthetic'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { sealingPeer } from '../../packages/server/test/sealing.ts'
import { type TestServer, testServer } from '../../packages/server/test/server.ts'

const run = promisify(execFile)
const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const [, DECISIONS] = /```text\n(.*?)```/s.exec(readme) ?? []

let server: TestServer
let folder: string
let participant: object
beforeAll(async () => {
  server = await testServer()
  for (const kind of ['civil', 'social', 'ibr']) {
    const lines = generateLines(kind, { count: 69, seed: 'demo' })
    await server.registry(
      kind,
      [...lines].map((line) => JSON.parse(line)),
    )
  }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-example-'))
  const { signer, secret, ...peer } = await sealingPeer(server, 'sp.example')
  const private_jwk = { ...signer.privateJwk, kid: signer.kid }
  participant = { ...peer, client_secret: secret, sign: { private_jwk } }
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** A file of settings for registries at this address. */
async function settings(base_url: string, names = ['civil', 'social', 'ibr']): Promise<string> {
  const registries = names.map((namespace) => ({ namespace, receiver_id: `${namespace}.example` }))
  const path = join(folder, 'settings.json')
  await writeFile(path, JSON.stringify({ base_url, participant, registries }))
  return path
}

const example = (...words: string[]) =>
  run(process.execPath, [join(import.meta.dirname, 'main.ts'), ...words])

test('decides as the README shows', async () => {
  const { stdout, stderr } = await example('--settings', await settings(server.url))
  expect(stderr).toBe('')
  expect(stdout).toBe(DECISIONS)
})

test('decides the same by callback, and hears nothing of the people', async () => {
  const registry = await callingBack()
  const { stdout, stderr } = await example('--async', '--settings', await settings(registry.url))
  expect(stderr).toBe('')
  expect(stdout).toBe(DECISIONS)
  // What was called back holds no member of a person.
  expect(registry.records.length).toBeGreaterThan(10)
  expect([...new Set(registry.records.flatMap((record) => Object.keys(record)))]).toEqual(['__typename'])
  expect(registry.statuses).toEqual([200, 200, 200])
  await registry.close()
})

test('what a registry does not answer is to be checked', async () => {
  const { stdout, stderr } = await example('--settings', await settings(server.url, ['civil', 'social']))
  expect(stderr).toBe('the ibr registry: the settings name no ibr registry\n')
  expect(stdout).toContain('A-1  to be checked: the ibr registry gave no answer\n')
  expect(stdout).toContain('A-5  not eligible: the applicant has died\n')
})

test('a wrong file is told by place, not by value', async () => {
  const file = join(folder, 'applications.json')
  await writeFile(file, '[{"application": "A-1", "uin": "1"}, {"application": "A-2", "uin": 8128560370}]')
  const ended = example(file, '--settings', await settings(server.url))
  const { stderr } = await ended.then(
    () => ({ stderr: '' }),
    (error: { stderr: string }) => error,
  )
  expect(stderr).toContain('application 2 of the list must have the texts application and uin')
  expect(stderr).not.toContain('8128560370')
})

interface CallingBack {
  readonly url: string
  readonly records: object[]
  readonly statuses: number[]
  close(): Promise<void>
}

/**
 * The same registries behind an asynchronous path: each request goes on to the synchronous one, is acknowledged, and
 * called back with the answer as the server signed it.
 */
async function callingBack(): Promise<CallingBack> {
  const records: object[] = []
  const statuses: number[] = []
  const calls: Promise<unknown>[] = []
  const front: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const body = Buffer.concat(chunks).toString()
    const { method = 'GET', url = '' } = request
    const headers: Record<string, string> = {}
    for (const name of ['authorization', 'content-type'] as const) {
      const value = request.headers[name]
      if (value !== undefined) headers[name] = value
    }
    const isSearch = url.endsWith('/registry/search')
    const path = url.replace('/registry/search', '/registry/sync/search')
    const answer = await fetch(server.url + path, { method, headers, ...(method === 'POST' && { body }) })
    const text = await answer.text()
    response.writeHead(answer.status, { 'Content-Type': 'application/json' })
    if (!isSearch) {
      response.end(text)
      return
    }
    const { message } = JSON.parse(text)
    for (const { data } of message.search_response) records.push(...(data?.reg_records ?? []))
    const { correlation_id } = message
    response.end(
      JSON.stringify({ message: { ack_status: 'ACK', timestamp: new Date().toISOString(), correlation_id } }),
    )
    const { sender_uri } = JSON.parse(body).header
    const call = fetch(sender_uri, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: text,
    })
    calls.push(call.then(({ status }) => statuses.push(status)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => front.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(front.address() as AddressInfo).port}`,
    records,
    statuses,
    async close() {
      await Promise.all(calls)
      front.close()
      front.closeAllConnections()
    },
  }
}
