/** The queries of each reference page, as they stand there, find the record that it shows. */
import { KINDS, type Kind, openApiDocument, operation } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bearer, post, type TestParticipant, type TestServer, testServer } from '../server.ts'

const FORMS = ['identifier', 'expression', 'predicate', 'graphql']

let server: TestServer
let peer: TestParticipant

/** The search of the page of a kind: its examples, and the record of its reply. */
function shownBy(kind: Kind) {
  const page = openApiDocument(kind, { server_url: '/', operations: [operation('search')], ways: ['sync'] })
  // biome-ignore lint/suspicious/noExplicitAny: a document of JSON
  const { requestBody, responses } = (page.paths['/registry/sync/search'] as any).post
  const [item] = responses[200].content['application/json'].example.message.search_response
  return { examples: requestBody.content['application/json'].examples, record: item.data.reg_records[0] }
}

beforeAll(async () => {
  server = await testServer()
  peer = await server.participant('spmis.demo')
  for (const kind of KINDS) await server.registry(kind.name, [shownBy(kind).record])
})
afterAll(() => server.close())

it.each(KINDS.map((kind) => [kind.name, kind] as const))('%s', async (namespace, kind) => {
  const { examples, record } = shownBy(kind)
  expect(Object.keys(examples)).toEqual(FORMS)
  for (const form of FORMS) {
    const { header, message } = examples[form].value
    const request = { header: { ...header, message_id: `${namespace}-${form}` }, message }
    const url = `${server.url}/${namespace}/v1.0.0/registry/sync/search`
    const { body } = await post(url, request, bearer(peer))
    const [item] = body.message.search_response
    expect(item).toMatchObject({ status: 'succ', pagination: { total_count: 1 } })
    if (form === 'graphql') expect(Object.values(item.data.reg_records[0])).toContain('female')
    else expect(item.data.reg_records).toEqual([record])
  }
})
