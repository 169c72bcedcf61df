/** The example requests of the reference pages, as messages that tests change. */
import { CALLBACKS, type Kind, OPERATIONS, type Operation, openApiDocument } from '@rollcall/protocol'

// biome-ignore lint/suspicious/noExplicitAny: a document of JSON
type Json = any

const documents = new Map<string, Json>()

/** The OpenAPI document of a kind. */
export function documentOf(kind: Kind): Json {
  const found = documents.get(kind.name)
  if (found !== undefined) return found
  const made = openApiDocument(kind, { server_url: '/', operations: OPERATIONS, callbacks: CALLBACKS })
  documents.set(kind.name, made)
  return made
}

/** The records that the example of a search finds. */
export function exampleRecords(kind: Kind): readonly object[] {
  const { content } = documentOf(kind).paths['/registry/sync/search'].post.responses[200]
  return content['application/json'].example.message.search_response[0].data.reg_records
}

/** The first example of an operation, as a fresh object. */
export function exampleRequest(kind: Kind, { sync_paths, async_paths }: Operation): Json {
  const path = [...sync_paths, ...async_paths][0] ?? ''
  const { example, examples } = documentOf(kind).paths[`/${path}`].post.requestBody.content['application/json']
  const [first] = examples === undefined ? [{ value: example }] : Object.values<Json>(examples)
  return structuredClone(first.value)
}
