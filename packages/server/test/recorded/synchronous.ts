/** Recorded requests with synchronous answers: rows of a name, a path, a body and its headers. */
import { type Kind, openApiDocument, operation, resolveAttribute } from '@rollcall/protocol'
import { bearer, searchRequest, type TestParticipant } from '../server.ts'

export interface Row {
  /** Unique within its file. */
  readonly name: string
  readonly path: string
  readonly body: string | object
  readonly headers?: Readonly<Record<string, string>>
}

const SYNC = 'v1.0.0/registry/sync/search'

/** Identifiers of a document, wherever they stand in it. */
export function identifiersOf(value: unknown): readonly { type: string; value: string }[] {
  if (Array.isArray(value)) return value.flatMap(identifiersOf)
  if (typeof value !== 'object' || value === null) return []
  const { identifier_type: type, identifier_value: text } = value as Record<string, unknown>
  const own = typeof type === 'string' && typeof text === 'string' ? [{ type, value: text }] : []
  return [...own, ...Object.values(value).flatMap(identifiersOf)]
}

/** Questions that a kind answers: its published examples, its identifiers, each attribute, each order. */
export function questionsOf(kind: Kind, documents: readonly object[]): readonly (readonly [string, object])[] {
  const examples = examplesOf(kind)
  const identifiers = documents.slice(0, 4).flatMap((document) => identifiersOf(document).slice(0, 3))
  const page = { page_size: 2, page_number: 2 }
  return [
    ...examples,
    ...identifiers.map((query, at) => [`identifier ${at}`, { query_type: 'idtype-value', query }] as const),
    ...kind.record_types.flatMap(({ name, attributes }) =>
      attributes.flatMap((attribute) => {
        const of = { reg_record_type: name }
        const query = { [attribute.name]: { $exists: true } }
        const asked = { ...of, query_type: 'expression', query: typed({ collection: name, query }) }
        const sort = [{ attribute_name: attribute.name, sort_order: 'desc' }]
        const sorted = resolveAttribute(kind.record_types[0], attribute.name)?.sortable === true
        return [
          [`${name}: ${attribute.name}`, { ...asked, pagination: { page_size: 1 } }] as const,
          ...(sorted ? [[`${name}: by ${attribute.name}`, { ...asked, sort, pagination: page }] as const] : []),
        ]
      }),
    ),
  ]
}

const typed = (expression: object) => ({ type: 'ns:org:QueryType:expression', value: { expression } })

/** The search criteria on the reference page of a kind. */
function examplesOf(kind: Kind): readonly (readonly [string, object])[] {
  const document = openApiDocument(kind, { server_url: '/', operations: [operation('search')], ways: ['sync'] })
  // biome-ignore lint/suspicious/noExplicitAny: a document of JSON
  const { requestBody } = (document.paths['/registry/sync/search'] as any).post
  const { examples } = requestBody.content['application/json']
  return Object.keys(examples).map((form) => {
    const [item] = examples[form].value.message.search_request
    return [`example: ${form}`, item.search_criteria] as const
  })
}

/** Each question in a request of its own. */
export const searches = (by: TestParticipant, kind: Kind, questions: readonly (readonly [string, object])[]): readonly Row[] =>
  questions.map(([name, criteria]) => ({
    name,
    path: `${kind.name}/${SYNC}`,
    body: searchRequest(by.sender_id, {}, { item: { search_criteria: criteria } }),
    headers: bearer(by),
  }))

type Envelope = ReturnType<typeof searchRequest>
type Bend = (envelope: Envelope) => unknown

const item =
  (changes: object): Bend =>
  (envelope) => ({
    ...envelope,
    message: { ...envelope.message, search_request: envelope.message.search_request.map((one) => ({ ...one, ...changes })) },
  })
const criteria = (changes: object): Bend =>
  item({ search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: '1' }, ...changes } })
const header =
  (changes: object): Bend =>
  (envelope) => ({ ...envelope, header: { ...envelope.header, ...changes } })
const message =
  (changes: object): Bend =>
  (envelope) => ({ ...envelope, message: { ...envelope.message, ...changes } })
const text =
  (change: (text: string) => string): Bend =>
  (envelope) =>
    change(JSON.stringify(envelope))

/** One row for each exit of docs/message-flow.md, and for what is read with tolerance. */
const BENT: readonly (readonly [string, Bend])[] = [
  ['in order', (envelope) => envelope],
  ['no JSON', () => '{'],
  ['an array', () => '[]'],
  ['a member twice', text((body) => body.replace('{', '{"header":1,'))],
  ['no header', ({ message }) => ({ message })],
  ['no message', ({ header }) => ({ header })],
  ['headers for header', ({ header: headers, message }) => ({ headers, message })],
  ['no message_id', header({ message_id: undefined })],
  ['message_ts without a zone', header({ message_ts: '2026-02-03T09:15:00' })],
  ['another sender', header({ sender_id: 'somebody.example' })],
  ['another receiver', header({ receiver_id: 'somebody.example' })],
  ['another version', header({ version: '2.0.0' })],
  ['version 1', header({ version: '1' })],
  ['another action', header({ action: 'subscribe' })],
  ['an unknown action', header({ action: 'sing' })],
  ['total_count as text', header({ total_count: '1' })],
  ['total_count of two', header({ total_count: 2 })],
  ['says that it is encrypted', header({ is_msg_encrypted: true })],
  ['no transaction_id', message({ transaction_id: '' })],
  ['transaction_id as a number', message({ transaction_id: 12 })],
  ['transaction_id of 100 characters', message({ transaction_id: 'x'.repeat(100) })],
  ['search_request is missing', message({ search_request: undefined })],
  ['one item without an array', (one) => message({ search_request: one.message.search_request[0] })(one)],
  ['no reference_id', item({ reference_id: '' })],
  ['timestamp without a zone', item({ timestamp: '2026-02-03T09:15:00' })],
  ['locale en', item({ locale: 'en' })],
  ['locale eng', item({ locale: 'eng' })],
  ['no criteria', item({ search_criteria: undefined })],
  ['page_size 0', criteria({ pagination: { page_size: 0 } })],
  ['page_size 101', criteria({ pagination: { page_size: 101 } })],
  ['page 2 beside the criteria', item({ pagination: { page_size: 1, page_number: 2 } })],
  ['unknown query_type', criteria({ query_type: 'sql' })],
  ['unknown record type', criteria({ reg_record_type: 'Ship' })],
  ['another registry type', criteria({ reg_type: 'ns:org:RegistryType:Nobody' })],
  ['unknown identifier type', criteria({ query: { type: 'SHOE', value: '1' } })],
  ['unknown attribute', criteria({ query_type: 'expression', query: { shoe_size: { eq: 9 } } })],
  ['unknown operator', criteria({ query_type: 'expression', query: { age: { near: 9 } } })],
  ['graphql that is none', criteria({ query_type: 'graphql', query: { type: 'graphql', value: { expression: '{' } } })],
  ['unknown sort', criteria({ sort: [{ attribute_name: 'shoe_size' }] })],
  ['more than the cap', criteria({ query_type: 'expression', query: { sex: { $exists: true } } })],
  ['filter beside the query', criteria({ filter: { sex: 'female' } })],
  [
    'two items, one repeated',
    ({ header, message }) => {
      const [only] = message.search_request
      return { header: { ...header, total_count: 2 }, message: { ...message, search_request: [only, only] } }
    },
  ],
]

export const refusals = (by: TestParticipant): readonly Row[] =>
  BENT.map(([name, bend]) => ({
    name,
    path: `civil/${SYNC}`,
    body: bend(searchRequest(by.sender_id, { type: 'UIN', value: '1' })) as object | string,
    headers: bearer(by),
  }))

/** Requests with a wrong path, method, type or token. */
export const strays = (by: TestParticipant): readonly Row[] => {
  const body = searchRequest(by.sender_id, { type: 'UIN', value: '1' })
  const headers = bearer(by)
  return [
    { name: 'no token', path: `civil/${SYNC}`, body },
    { name: 'a wrong token', path: `civil/${SYNC}`, body, headers: { Authorization: 'Bearer x.y.z' } },
    { name: 'no bearer', path: `civil/${SYNC}`, body, headers: { Authorization: 'Basic eDp5' } },
    { name: 'another type', path: `civil/${SYNC}`, body, headers: { ...headers, 'Content-Type': 'text/plain' } },
    { name: 'no such registry', path: `nowhere/${SYNC}`, body, headers },
    { name: 'no such path', path: 'civil/v1.0.0/registry/sync/sing', body, headers },
    { name: 'another version', path: 'civil/v2.0.0/registry/sync/search', body, headers },
  ]
}

/** Token requests, as forms, JSON and HTTP Basic, in order and not. */
export function tokenRequests({ client_id, secret }: TestParticipant): readonly Row[] {
  const form = (fields: Record<string, string>) => new URLSearchParams(fields).toString()
  const grant_type = 'client_credentials'
  const path = 'oauth2/client/token'
  const FORM = { 'Content-Type': 'application/x-www-form-urlencoded' }
  const basic = `Basic ${Buffer.from(`${client_id}:${secret}`).toString('base64')}`
  const client_secret = secret
  return [
    { name: 'form', path, body: form({ grant_type, client_id, client_secret }), headers: FORM },
    { name: 'JSON', path, body: { grant_type, client_id, client_secret } },
    { name: 'Basic', path, body: form({ grant_type }), headers: { ...FORM, Authorization: basic } },
    { name: 'wrong secret', path, body: form({ grant_type, client_id, client_secret: 'x' }), headers: FORM },
    { name: 'unknown client', path, body: form({ grant_type, client_id: 'x', client_secret }), headers: FORM },
    { name: 'no secret', path, body: form({ grant_type, client_id }), headers: FORM },
    { name: 'another grant', path, body: form({ grant_type: 'password', client_id, client_secret }), headers: FORM },
    { name: 'no grant', path, body: form({ client_id, client_secret }), headers: FORM },
    { name: 'a parameter twice', path, body: `grant_type=x&grant_type=y`, headers: FORM },
  ]
}
