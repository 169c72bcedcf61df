/** Every path of every kind is answered, and the examples of the reference pages are taken as they stand there. */
import { randomUUID } from 'node:crypto'
import { CALLBACKS, KINDS, type Kind, OPERATIONS, operationsOf } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documentOf, exampleRecords } from './example-requests.ts'
import { bearer, post, type TestParticipant, type TestServer, testServer } from './server.ts'

/** The table of the specification, "Endpoints": what every kind has, and what only some have. */
const SPECIFIED = [
  'registry/search',
  'registry/on-search',
  'registry/subscribe',
  'registry/on-subscribe',
  'registry/notify',
  'registry/unsubscribe',
  'registry/on-unsubscribe',
  'registry/txn/status',
  'registry/txn/on-status',
  'registry/sync/search',
  'registry/sync/txn/status',
]
const SPECIFIED_OF: Readonly<Record<string, readonly string[]>> = {
  ibr: ['registry/enrollments/updates', 'registry/sync/enrolled'],
  ess: ['registry/sync/check-enrollment'],
}

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON
type Json = any

let server: TestServer
let peer: TestParticipant
beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  for (const kind of KINDS) {
    await server.registry(kind.name, exampleRecords(kind))
  }
})
afterAll(() => server.close())

const send = (namespace: string, path: string, body: object) =>
  post(`${server.url}/${namespace}/v1.0.0/${path}`, body, bearer(peer))

/** The example as a message of its own, from the participant that it names. */
const asMessage = ({ header, message }: Json) => ({ header: { ...header, message_id: `m-${randomUUID()}` }, message })

const pathsOf = (kind: Kind): readonly string[] => [
  ...operationsOf(kind).flatMap(({ sync_paths, async_paths }) => [...sync_paths, ...async_paths]),
  ...CALLBACKS.map(({ path }) => path),
]

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('a registry of kind %s', (name, kind) => {
  it('has every path of the specification', () => {
    expect(pathsOf(kind)).toEqual(expect.arrayContaining([...SPECIFIED, ...(SPECIFIED_OF[name] ?? [])]))
  })

  it('answers at every path of its operations', async () => {
    for (const path of pathsOf(kind)) {
      const { status, body } = await send(name, path, {})
      expect([path, status, body.message.error.code]).toEqual([path, 400, 'err.request.bad'])
    }
  })

  it('has no path of an operation that is not its own', async () => {
    const others = OPERATIONS.filter((operation) => !operationsOf(kind).includes(operation))
    for (const path of others.flatMap(({ sync_paths, async_paths }) => [...sync_paths, ...async_paths])) {
      const { status, body } = await send(name, path, {})
      expect([path, status, body.message.error.code]).toEqual([path, 404, 'err.request.not_found'])
    }
  })

  it('takes the examples of its reference page, and answers them as it says', async () => {
    const { paths } = documentOf(kind)
    for (const { sync_paths, reply, name: operation } of operationsOf(kind)) {
      const [path] = sync_paths
      if (path === undefined || operation === 'txn-status') continue
      const { requestBody, responses } = paths[`/${path}`].post
      const { example, examples = { only: { value: example } } } = requestBody.content['application/json']
      const said = responses[200].content['application/json'].example.message[reply.items ?? '']
      for (const { value } of Object.values<Json>(examples)) {
        const { status, body } = await send(name, path, asMessage(value))
        expect(status, JSON.stringify(body)).toBe(200)
        const [item] = body.message[reply.items ?? '']
        const { enrolled_status, disabled_status } = said[0]
        expect([operation, item.status, item.status_reason_message]).toEqual([operation, 'succ', undefined])
        expect(item).toMatchObject({ ...(enrolled_status && { enrolled_status }), ...(disabled_status && { disabled_status }) })
      }
    }
  })
})
