/** Makes the OpenAPI 3.1 document of a kind from the table of operations, the schemas and the kind. */
import type { TSchema } from 'typebox'
import { PROTOCOL_VERSION } from './common.ts'
import { deprecatedOperation } from './deprecation.ts'
import { Ack, callbackEnvelope, FileInfo, requestEnvelope } from './envelope.ts'
import type { Kind } from './kinds/kind.ts'
import { type ComponentCollector, type JsonObject, makeComponentCollector } from './openapi/components.ts'
import { errorReferences, errorResponses } from './openapi/errors.ts'
import {
  exampleAck,
  exampleCallback,
  exampleReply,
  exampleRequest,
  exampleRequests,
  inventedExampleIds,
} from './openapi/examples.ts'
import { type ExampleOf, exampleForServer, omitAllSourceReferences } from './openapi/readers.ts'
import { kindMarkdown, reasonCodeTable } from './openapi/tables.ts'
import { describeTokenPath, tokenSecuritySchemes } from './openapi/token.ts'
import { type Callback, type Operation, THEMES, type Theme } from './operation.ts'
import { operationsOf } from './operations.ts'

export interface OpenApiDocument extends JsonObject {
  readonly openapi: '3.1.0'
  readonly info: JsonObject
  readonly servers: readonly JsonObject[]
  readonly paths: { readonly [path: string]: JsonObject }
  /** The messages that we send, which are callbacks and notifications, by name. */
  readonly webhooks: { readonly [name: string]: JsonObject }
  readonly components: JsonObject
}

export interface OpenApiOptions {
  /** The base address of the registry, with namespace and version. It may be relative to the host. */
  readonly server_url: string
  /** The operations that the server has. The document leaves out those that the kind does not have. */
  readonly operations: readonly Operation[]
  /** The modes that are served; both by default. */
  readonly ways?: readonly Way[]
  /** The callbacks that the server receives from other registries; none by default. */
  readonly callbacks?: readonly Callback[]
  /** The title of the document; that of the kind by default. */
  readonly title?: string
  /** The sender, the receiver and the person that example requests name; invented ones by default. */
  readonly example?: ExampleOf
}

/** The mode of a path: `sync` answers with the result, `async` with an acknowledgement, and the result follows. */
export type Way = 'sync' | 'async'

/**
 * The document that is served at `{base}/openapi.json`. The document is plain JSON, and its references point only into itself.
 */
export function openApiDocument(kind: Kind, options: OpenApiOptions): OpenApiDocument {
  const { server_url, operations, ways = ['sync', 'async'], callbacks = [], title = kind.title } = options
  const components = makeComponentCollector()
  const paths: Record<string, JsonObject> = {}
  const webhooks: Record<string, JsonObject> = {}
  for (const operation of operationsOf(kind, operations)) {
    const [sync] = ways.includes('sync') ? operation.sync_paths : []
    const [async] = ways.includes('async') ? operation.async_paths : []
    if (sync) paths[`/${sync}`] = { post: syncOperation(kind, operation, components) }
    if (!async) continue
    paths[`/${async}`] = { post: asyncOperation(kind, operation, components) }
    for (const callback of [operation.callback, operation.notifies]) {
      if (callback) webhooks[callback.name] = { post: describeSentCallback(kind, callback, components) }
    }
  }
  for (const callback of callbacks) {
    paths[`/${callback.path}`] = { post: describeReceivedCallback(kind, callback, components) }
  }
  for (const { schema } of kind.record_types) components.refer(schema)
  Object.assign(paths, describeTokenPath(server_url, components))
  const document = {
    openapi: '3.1.0',
    info: { title, version: PROTOCOL_VERSION, description: kindMarkdown(kind) },
    servers: [{ url: server_url }],
    security: [{ token: [] }, { bearer: [] }],
    tags: THEMES.filter(({ name }) => tagsOfPaths(paths).has(name)),
    paths,
    webhooks,
    components: {
      securitySchemes: tokenSecuritySchemes(server_url),
      responses: errorResponses(components),
      schemas: components.schemas,
    },
  } as const
  return omitAllSourceReferences(
    options.example === undefined ? document : { ...document, paths: pathsForServer(kind, document.paths, options.example) },
  )
}

const tagsOfPaths = (paths: Readonly<Record<string, JsonObject>>): ReadonlySet<unknown> =>
  new Set(Object.values(paths).flatMap(({ post }) => (post as { tags: readonly string[] }).tags))

/** Replaces the invented sender, receiver and person in the example requests of the paths by those of one server. */
function pathsForServer(
  kind: Kind,
  paths: { readonly [path: string]: JsonObject },
  example: ExampleOf,
): { readonly [path: string]: JsonObject } {
  const invented = inventedExampleIds(kind)
  const at = ([path, item]: [string, JsonObject]): [string, JsonObject] => {
    const { post } = item as { readonly post: JsonObject & { readonly requestBody: JsonObject } }
    const requestBody = exampleForServer(post.requestBody, invented, example)
    return [path, { ...item, post: { ...post, requestBody } }]
  }
  return Object.fromEntries(Object.entries(paths).map(at))
}

const RECEIVED_CALLBACKS_TAG: Theme = 'Callbacks of other registries'

/** The `content` of a JSON body in the document: its schema and an example. */
function jsonContent(schema: JsonObject, example: unknown): JsonObject {
  return { 'application/json': { schema, example } }
}

function commonOperationMembers(
  { summary, codes, theme, deprecated }: Operation,
  paths: readonly string[],
  answered: string,
): JsonObject {
  const aliases = paths.slice(1).map((path) => `\`/${path}\``)
  const text = [
    `${summary} ${answered}`,
    ...(aliases.length > 0 ? [`Also answered at ${aliases.join(', ')}.`] : []),
    ...(codes ? [reasonCodeTable(codes)] : []),
  ]
  return { tags: [theme], summary: `${summary} ${answered}`, description: text.join('\n\n'), ...deprecatedOperation(deprecated) }
}

function requestBody(kind: Kind, operation: Operation, way: Way, components: ComponentCollector): JsonObject {
  const { name, schema } = operation.request
  const envelope = components.refer(requestEnvelope(schema, `${name}Envelope`))
  const several = exampleRequests(kind, operation, way)
  const content =
    several === null
      ? jsonContent(envelope, exampleRequest(kind, operation, way))
      : { 'application/json': { schema: envelope, examples: several } }
  const file = way === 'async' ? { 'multipart/form-data': { schema: components.refer(FileInfo) } } : {}
  return { required: true, content: { ...content, ...file } }
}

function syncOperation(kind: Kind, operation: Operation, components: ComponentCollector): JsonObject {
  const { reply } = operation
  const envelope = components.refer(callbackEnvelope(reply.schema, `${reply.name}Envelope`))
  // The body has the members of the reply twice (D8, D9): in `message`, and, for systems that expect no envelope, beside
  // `message`.
  const schema = operation.reply_also_bare ? { allOf: [envelope, components.refer(reply.schema)] } : envelope
  return {
    operationId: `sync-${operation.name}`,
    ...commonOperationMembers(operation, operation.sync_paths, 'The answer has the result.'),
    requestBody: requestBody(kind, operation, 'sync', components),
    responses: {
      200: {
        description: 'The result. What was rejected says so in the header or in its item.',
        content: jsonContent(schema, exampleReply(kind, operation)),
      },
      ...errorReferences(),
    },
  }
}

function asyncOperation(kind: Kind, operation: Operation, components: ComponentCollector): JsonObject {
  const { callback } = operation
  const result = callback && {
    callbacks: { [callback.name]: describeCallback(callback, exampleReply(kind, operation), components) },
  }
  return {
    operationId: operation.name,
    ...commonOperationMembers(operation, operation.async_paths, 'The result follows in a callback.'),
    requestBody: requestBody(kind, operation, 'async', components),
    responses: { 200: ackResponse(components), ...errorReferences() },
    ...result,
  }
}

/** Describes the callback to the address in the request's header. */
function describeCallback(callback: Callback, example: JsonObject, components: ComponentCollector): JsonObject {
  const { name, schema } = callback.message
  const envelope = ENVELOPE_SCHEMA_MAKERS[callback.header](schema, `${name}Envelope`)
  return {
    '{$request.body#/header/sender_uri}': {
      post: {
        summary: `The result, with action ${callback.action}; by default at /${callback.path}.`,
        requestBody: { required: true, content: jsonContent(components.refer(envelope), example) },
        responses: { 200: ackResponse(components) },
      },
    },
  }
}

/** Describes a callback that another registry sends us when we are the requester. */
function describeReceivedCallback(kind: Kind, callback: Callback, components: ComponentCollector): JsonObject {
  const { name, schema } = callback.message
  const envelope = ENVELOPE_SCHEMA_MAKERS[callback.header](schema, `${name}Envelope`)
  return {
    operationId: `received-${callback.name}`,
    tags: [RECEIVED_CALLBACKS_TAG],
    summary: `Receive ${callback.name} of another registry: it is stored, then acknowledged (spec "Endpoints").`,
    requestBody: { required: true, content: jsonContent(components.refer(envelope), exampleCallback(kind, callback)) },
    responses: { 200: ackResponse(components), ...errorReferences() },
  }
}

/** Describes a callback that we send to a participant that has asked or subscribed. */
function describeSentCallback(kind: Kind, callback: Callback, components: ComponentCollector): JsonObject {
  const { name, schema } = callback.message
  const envelope = components.refer(ENVELOPE_SCHEMA_MAKERS[callback.header](schema, `${name}Envelope`))
  return {
    operationId: `sent-${callback.name}`,
    summary: `Sent to the address of the participant, with action ${callback.action} (G1).`,
    description:
      'Answer 200 with an acknowledgement when the message is stored. An acknowledgement ERR refuses it, and 400, 405, 410, 411, 413, 414, 415, 422, 431, 501 and 505 stop it. With any other answer, or none, it is sent again with the same `message_id`.',
    requestBody: {
      required: true,
      content: jsonContent(addMetaSchema(envelope, callback, components), exampleCallback(kind, callback)),
    },
    responses: { 200: ackResponse(components) },
  }
}

function addMetaSchema(envelope: JsonObject, { meta }: Callback, components: ComponentCollector): JsonObject {
  if (meta === null) return envelope
  const header = { type: 'object', properties: { meta: components.refer(meta) } }
  return { allOf: [envelope, { type: 'object', properties: { header } }] }
}

const ENVELOPE_SCHEMA_MAKERS = { request: requestEnvelope<TSchema>, callback: callbackEnvelope<TSchema> }

function ackResponse(components: ComponentCollector): JsonObject {
  return { description: 'Acknowledged.', content: jsonContent(components.refer(Ack), exampleAck) }
}
