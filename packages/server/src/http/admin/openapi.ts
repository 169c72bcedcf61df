/** Makes the OpenAPI 3.1 document of the admin API from its table and the schemas of the admin functions. */

import { ACT_WAITS_ANSWER } from '@rollcall/admin/approvals/proposals'
import { closed } from '@rollcall/admin/members'
import { deprecatedOperation } from '@rollcall/protocol'
import type { TSchema } from 'typebox'
import { ADMIN_BASE, type AdminRoute, type DescribedCall, pathMembers, queryOrBodyMembers } from './route.ts'
import { SESSION_CALLS } from './session-calls.ts'

type JsonMembers = Readonly<Record<string, unknown>>

const ERROR_DESCRIPTIONS: Readonly<Record<string, string>> = {
  400: 'The input is not valid: the message names the member and the rule.',
  401: 'The operator token is missing, unknown, expired or revoked, or the session of the console has ended.',
  403: 'The token does not have the role, or is bound to other registries or to another consent authority; or a call with the cookie of a session does not come from the console.',
  404: 'There is no such namespace, id or path.',
  409: 'What is asked for contradicts what is there.',
  413: 'The body is larger than 1,048,576 bytes.',
  415: 'The body is not application/json.',
  421: 'The Host header is not a name of this listener.',
  429: 'Too many requests without a good token came from this address, or the node works on as many such calls as it may.',
  500: 'The server failed; the failure is logged.',
  503: 'The database does not answer, or the journal cannot be written.',
}

export function makeAdminApiDocument(routes: readonly AdminRoute[]): JsonMembers {
  const paths = openApiPaths(ADMIN_BASE, [
    ...routes.map((route) => [route, { description: `Needs the role \`${route.role}\`.` }] as const),
    ...Object.values(SESSION_CALLS).map((call) => [call, CONSOLE_OPENAPI_MEMBERS] as const),
  ])
  return {
    openapi: '3.1.0',
    info: {
      title: 'Admin API',
      version: '1',
      description:
        "What the operator of a registry server may ask on the operator's listener. `x-personal-data` marks members that may be personal data.",
    },
    security: [{ operator: [] }, { session: [] }],
    paths,
    components: {
      securitySchemes: {
        operator: { type: 'http', scheme: 'bearer', description: 'A token that `rollcall operator add` printed.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: 'rollcall_session',
          description:
            'The cookie of the console. Calls with it need the header `Rollcall-Console`: `1`, or `poll` for what a page asks by itself.',
        },
      },
      ...errorComponents(),
    },
  }
}

/** Makes the OpenAPI paths of calls. @param calls pairs of a call and the members to add to the OpenAPI operation of this call */
export function openApiPaths(base: string, calls: readonly (readonly [DescribedCall, JsonMembers])[]): JsonMembers {
  const paths: Record<string, Record<string, JsonMembers>> = {}
  for (const [call, more] of calls) {
    const path = `${base}${call.path}`
    paths[path] = { ...paths[path], [call.method.toLowerCase()]: { ...openApiOperation(call), ...more } }
  }
  return paths
}

/** Makes the OpenAPI components of errors. @param changes the statuses whose meaning differs from that in the admin API */
export const errorComponents = (changes: Readonly<Record<string, string>> = {}): JsonMembers => ({
  responses: Object.fromEntries(
    Object.entries({ ...ERROR_DESCRIPTIONS, ...changes }).map(([status, text]) => [`Error${status}`, errorAnswer(text)]),
  ),
  schemas: { Errors: ERRORS_SCHEMA },
})

/** The members that are added to the OpenAPI operations of the console's session calls. */
const CONSOLE_OPENAPI_MEMBERS: JsonMembers = {
  description: 'For the console: it needs the header `Rollcall-Console: 1`, and no token.',
  security: [],
}

const ACT_WAITS_RESPONSE: JsonMembers = {
  description: 'Not done: the act waits for a second operator (ROLLCALL_TWO_PERSON).',
  content: jsonContent(closed({ proposal: ACT_WAITS_ANSWER })),
}

function openApiOperation(route: DescribedCall & Partial<Pick<AdminRoute, 'approval'>>): JsonMembers {
  const { input, method } = route
  const members = queryOrBodyMembers(route)
  const required = requiredMembersOf(input)
  const parameters = [
    ...pathMembers(route).map((name) => openApiParameter('path', name, propertiesOf(input)[name], true)),
    ...(method === 'GET'
      ? Object.entries(members).map(([name, schema]) => openApiParameter('query', name, schema, required.includes(name)))
      : []),
  ]
  return {
    operationId: route.name,
    summary: route.summary,
    ...deprecatedOperation(route.deprecated),
    parameters,
    ...(method !== 'GET' && { requestBody: requestBodyOf(members, required) }),
    responses: {
      [route.status]: { description: 'Done.', content: jsonContent(route.result) },
      ...('approval' in route && route.approval !== undefined && { 202: ACT_WAITS_RESPONSE }),
      ...Object.fromEntries(
        Object.keys(ERROR_DESCRIPTIONS).map((status) => [status, { $ref: `#/components/responses/Error${status}` }]),
      ),
    },
  }
}

function jsonContent(schema: unknown): JsonMembers {
  return { 'application/json': { schema } }
}

const openApiParameter = (place: string, name: string, schema: TSchema | undefined, required: boolean): JsonMembers => ({
  in: place,
  name,
  required,
  schema: schema ?? {},
})

function requestBodyOf(members: Readonly<Record<string, TSchema>>, required: readonly string[]): JsonMembers {
  const named = required.filter((name) => Object.hasOwn(members, name))
  const schema = { type: 'object', additionalProperties: false, required: named, properties: members }
  return { required: true, content: jsonContent(schema) }
}

const propertiesOf = (schema: TSchema): Readonly<Record<string, TSchema>> =>
  (schema as { properties?: Record<string, TSchema> }).properties ?? {}

const requiredMembersOf = (schema: TSchema): readonly string[] => (schema as { required?: string[] }).required ?? []

const ERRORS_SCHEMA = {
  type: 'object',
  required: ['errors'],
  properties: {
    errors: {
      type: 'array',
      minItems: 1,
      items: {
        type: 'object',
        required: ['code', 'message'],
        properties: { code: { type: 'string' }, message: { type: 'string' } },
      },
    },
  },
}

const errorAnswer = (description: string): JsonMembers => ({
  description,
  content: jsonContent({ $ref: '#/components/schemas/Errors' }),
})
