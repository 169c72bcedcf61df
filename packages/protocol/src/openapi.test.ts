import type { TSchema } from 'typebox'
import { Compile } from 'typebox/schema'
import { describe, expect, it } from 'vitest'
import { readIdentifiers } from './attributes/read-identifiers.ts'
import { type JsonValue, parseJson } from './json.ts'
import { KINDS, kindNamed, resolveEventType, resolveRecordType } from './kinds/index.ts'
import type { Kind } from './kinds/kind.ts'
import { QUERY_TYPES } from './messages/query.ts'
import { ERROR_ANSWER_ROWS } from './openapi/errors.ts'
import { exampleCallback, exampleOfOperation, exampleReply, exampleRequest } from './openapi/examples.ts'
import { sampleIdentifier, sampleRecord } from './openapi/sample-record.ts'
import { openApiDocument } from './openapi.ts'
import { CALLBACKS, OPERATIONS, operation, operationsOf } from './operations.ts'
import { validator } from './validate.ts'

const server_url = 'https://registry.example/civil/v1.0.0'
const documentOf = (kind: Kind) => openApiDocument(kind, { server_url, operations: operationsOf(kind), callbacks: CALLBACKS })

/** Every object inside a value, the value itself first. */
function* objectsIn(value: unknown): Generator<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return
  if (!Array.isArray(value)) yield value as Record<string, unknown>
  for (const member of Object.values(value)) yield* objectsIn(member)
}

/** The value at a local reference, by the rules of JSON pointers; undefined when there is none. */
function resolve(document: unknown, reference: string): unknown {
  return reference
    .slice('#/'.length)
    .split('/')
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>((place, name) => (place as Record<string, unknown> | undefined)?.[name], document)
}

/** A schema of the document with its references followed, so that a validator needs nothing else. */
function inlined(document: unknown, schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map((part) => inlined(document, part))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref } = schema as { $ref?: unknown }
  if (typeof $ref === 'string') return inlined(document, resolve(document, $ref))
  return Object.fromEntries(Object.entries(schema).map(([key, part]) => [key, inlined(document, part)]))
}

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('the document of %s', (_, kind) => {
  const document = documentOf(kind)

  it('holds nothing but JSON', () => {
    expect(parseJson(JSON.stringify(document))).toEqual(document)
  })

  it('refers only to what it holds', () => {
    const references = [...objectsIn(document)].flatMap(({ $ref }) => (typeof $ref === 'string' ? [$ref] : []))
    expect(references.length).toBeGreaterThan(20)
    for (const reference of new Set(references)) {
      expect(reference).toMatch(/^#\/components\/(schemas|responses)\/[A-Za-z]+$/)
      expect(resolve(document, reference), reference).toBeTypeOf('object')
    }
  })

  it('uses every component that it holds, its records apart', () => {
    const text = JSON.stringify(document)
    const records = kind.record_types.map(({ schema }) => (schema as { title?: string }).title)
    const unused = Object.keys(document.components.schemas as object).filter(
      (name) => !records.includes(name) && !text.includes(`"#/components/schemas/${name}"`),
    )
    expect(unused).toEqual([])
  })

  it('has examples that are what their schemas say', () => {
    const contents = [...objectsIn(document)].filter((object) => 'schema' in object && 'example' in object)
    // Per operation and way a request and an answer, the errors, and the token endpoint.
    expect(contents.length).toBeGreaterThan(2 * operationsOf(kind).length + ERROR_ANSWER_ROWS.length)
    const named = [...objectsIn(document)].flatMap(({ schema, examples }) =>
      typeof examples === 'object' && schema !== undefined && !Array.isArray(examples)
        ? Object.values(examples as object).map(({ value }) => ({ schema, example: value }))
        : [],
    )
    // Each form of a query, on both paths of a search; and those of questions about one person.
    const persons: Readonly<Record<string, number>> = { ibr: 3, ess: 2 }
    expect(named).toHaveLength(2 * QUERY_TYPES.length + (persons[kind.name] ?? 0))
    for (const { schema, example } of [...contents, ...named]) {
      const compiled = Compile(inlined(document, schema) as object)
      expect(compiled.Errors(example), JSON.stringify(example)).toEqual([true, []])
    }
  })

  it('names each operation once', () => {
    const ids = [...objectsIn(document)].flatMap(({ operationId }) => (operationId ? [operationId] : []))
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toContain('sync-search')
  })

  it('has a path for the first sync and async path of each operation, for callbacks and for tokens', () => {
    const expected = operationsOf(kind).flatMap(({ sync_paths, async_paths }) => [
      ...sync_paths.slice(0, 1),
      ...async_paths.slice(0, 1),
    ])
    expect(Object.keys(document.paths).sort()).toEqual(
      [...expected, ...CALLBACKS.map(({ path }) => path), 'oauth2/client/token'].map((path) => `/${path}`).sort(),
    )
  })

  it('describes what we send: the callback of each asynchronous operation, and notifications', () => {
    const sent = operationsOf(kind).flatMap(({ async_paths, callback, notifies }) =>
      async_paths.length > 0 ? [callback, notifies].filter((row) => row !== null) : [],
    )
    expect(Object.keys(document.webhooks).toSorted()).toEqual([...new Set(sent)].map(({ name }) => name).toSorted())
    expect(document.webhooks).toHaveProperty(['notify', 'post', 'operationId'], 'sent-notify')
  })

  it('documents the shape of each record type', () => {
    for (const { schema } of kind.record_types) {
      const { title } = schema as { title: string }
      expect(document.components.schemas).toHaveProperty(title)
    }
  })

  it('lists identifier types, record types, attributes and events', () => {
    const { description } = document.info as { description: string }
    const names = [
      ...kind.identifier_types.map((row) => row.name),
      ...kind.event_types.map((row) => row.name),
      ...kind.record_types.flatMap(({ name, attributes, compounds = [] }) => [
        name,
        ...attributes.map((attribute) => attribute.name),
        ...compounds.flatMap((compound) => [compound.name, ...compound.members.map((row) => row.name)]),
      ]),
    ]
    for (const name of names) expect(description).toContain(`| ${name} |`)
    // A cell with a bar would shift its row.
    for (const block of description.split('\n\n').filter((part) => part.startsWith('|'))) {
      const widths = block.split('\n').map((line) => line.split('|').length)
      expect(new Set(widths).size).toBe(1)
    }
  })

  it('has examples of the kind: its record type, identifier type and event type', () => {
    const request = exampleOfOperation(kind, 'search').request as { search_request: [{ search_criteria: Criteria }] }
    const { reg_record_type, query } = request.search_request[0].search_criteria
    expect(resolveRecordType(kind, reg_record_type)).toBe(kind.record_types[0])
    expect(query.type).toBe(kind.record_types[0].primary_identifier)
    const subscribe = JSON.stringify(exampleOfOperation(kind, 'subscribe').request)
    const event = /"reg_event_type":"([^"]+)"/.exec(subscribe)?.[1] ?? ''
    expect(resolveEventType(kind, event)).toBe(kind.event_types[0])
  })

  it.each(kind.record_types.map((row) => [row.name, row] as const))('has a sample %s that an import would take', (_, row) => {
    const record = sampleRecord(kind, row)
    expect(validator(row.schema).problem(record, '')).toBeNull()
    expect(readIdentifiers(kind, row, record as JsonValue)).toContainEqual({ ...sampleIdentifier(kind, row), names: 'record' })
  })

  it.each(operationsOf(kind).map((row) => [row.name, row] as const))(
    'has a request of %s that would be taken, and a reply that might be given',
    (_, row) => {
      const request = exampleRequest(kind, row, 'async')
      const reply = exampleReply(kind, row)
      expect(validator(row.request.incoming).problem(request.message, 'message')).toBeNull()
      expect(validator(row.reply.schema).problem(reply.message, 'message')).toBeNull()
      for (const example of [request, reply]) expect(parseJson(JSON.stringify(example))).toEqual(example)
    },
  )
})

interface Criteria {
  reg_record_type: string
  query: { type: string }
}

const civil = kindNamed('civil') as Kind
const ibr = kindNamed('ibr') as Kind

describe('openApiDocument', () => {
  it('describes only the operations that it is given', () => {
    const document = openApiDocument(civil, { server_url, operations: [operation('unsubscribe')] })
    expect(Object.keys(document.paths)).toEqual(['/registry/unsubscribe', '/oauth2/client/token'])
    expect(document.components.schemas).not.toHaveProperty('SearchRequest')
  })

  it('describes only the paths that are served', () => {
    const pathsOf = (...ways: ('sync' | 'async')[]) =>
      Object.keys(openApiDocument(civil, { server_url, operations: [operation('search')], ways }).paths)
    expect(pathsOf('sync')).toEqual(['/registry/sync/search', '/oauth2/client/token'])
    expect(pathsOf('async')).toEqual(['/registry/search', '/oauth2/client/token'])
  })

  it('leaves out operations that the kind does not have', () => {
    const operations = [operation('search'), operation('enrolled')]
    const has = (kind: Kind) => '/registry/sync/enrolled' in openApiDocument(kind, { server_url, operations }).paths
    expect([has(civil), has(ibr)]).toEqual([false, true])
  })

  it('says what may go wrong on every operation, with our error body', () => {
    const responses = documentOf(civil).paths['/registry/sync/search']?.post as { responses: object }
    expect(Object.keys(responses.responses)).toEqual(['200', ...ERROR_ANSWER_ROWS.map((row) => row.status)].map(String))
    for (const status of [400, 401, 403, 404, 413, 415, 429, 500, 503]) {
      expect(ERROR_ANSWER_ROWS.map((row) => row.status)).toContain(status)
    }
  })

  it('sends an asynchronous result to the sender_uri of the header', () => {
    const { post } = documentOf(civil).paths['/registry/subscribe'] as { post: { callbacks: object } }
    expect(post.callbacks).toHaveProperty(['on-subscribe', '{$request.body#/header/sender_uri}', 'post'])
    expect(exampleRequest(civil, operation('subscribe'), 'async')).toHaveProperty(
      'header.sender_uri',
      'https://spmis.demo/registry/on-subscribe',
    )
    expect(exampleRequest(civil, operation('search'), 'sync')).not.toHaveProperty('header.sender_uri')
  })

  it('takes files on asynchronous paths, and on no others', () => {
    const bodiesAt = (path: string) => {
      const { post } = documentOf(civil).paths[path] as { post: { requestBody: { content: object } } }
      return Object.keys(post.requestBody.content)
    }
    expect(bodiesAt('/registry/search')).toEqual(['application/json', 'multipart/form-data'])
    expect(bodiesAt('/registry/sync/search')).toEqual(['application/json'])
    expect(bodiesAt('/registry/notify')).toEqual(['application/json'])
  })

  it.each(CALLBACKS.map((row) => [row.name, row] as const))('has an example of %s that would be taken', (_, row) => {
    const { header, message } = exampleCallback(civil, row) as { header: { action: string }; message: object }
    expect(validator(row.message.incoming).problem(message, 'message')).toBeNull()
    expect(header.action).toBe(row.action)
  })

  it('repeats the members of an enrolment reply beside its envelope (D8)', () => {
    const reply = exampleReply(ibr, operation('enrolment-updates'))
    expect(reply).toMatchObject(reply.message as object)
    expect(exampleReply(ibr, operation('search'))).not.toHaveProperty('search_response')
  })

  it('names the other paths of an operation', () => {
    const { post } = documentOf(ibr).paths['/registry/enrollments/updates'] as { post: { description: string } }
    for (const path of operation('enrolment-updates').sync_paths.slice(1)) {
      expect(post.description).toContain(`\`/${path}\``)
    }
  })

  it('finds the host of the token endpoint, also behind a prefix or from a relative address', () => {
    const hostFor = (url: string) => {
      const document = openApiDocument(civil, { server_url: url, operations: [] })
      return document.paths['/oauth2/client/token']?.servers
    }
    expect(hostFor('https://registry.example/civil/v1.0.0')).toEqual([{ url: 'https://registry.example' }])
    expect(hostFor('https://x.example/api/civil/v1.0.0/')).toEqual([{ url: 'https://x.example/api' }])
    expect(hostFor('/civil/v1.0.0')).toEqual([{ url: '/' }])
  })

  it('has an example for every operation of the table, and for no other', () => {
    for (const { name } of OPERATIONS) expect(exampleOfOperation(civil, name).request).toBeTypeOf('object')
    expect(() => exampleOfOperation(civil, 'no-such')).toThrow(new RangeError('there is no example of operation no-such'))
    expect(() => exampleOfOperation(civil, 'constructor')).toThrow(RangeError)
  })

  it('refuses two different schemas under one title', () => {
    const twin = { ...(civil.record_types[0].schema as object), properties: {} } as TSchema
    const record_types = [civil.record_types[0], { ...civil.record_types[0], name: 'Twin', schema: twin }] as const
    expect(() => documentOf({ ...civil, record_types: [...record_types] })).toThrow(
      new Error('two different schemas are titled Person'),
    )
  })
})
