/** The admin API on the operator's listener: a route for each row of its table. The life of a call is on this screen. */

import { ONE_OPERATOR } from '@rollcall/admin/act'
import { createApprovals, Proposed } from '@rollcall/admin/approvals/approval'
import { checkKnownTo, mayList } from '@rollcall/admin/participants/known'
import { AdminRefusal } from '@rollcall/admin/use-case'
import { isAuthorityNamed } from '@rollcall/consents/store/authorities'
import { hasRole, isFor, type Operator } from '@rollcall/core/model/operator'
import type { Registry } from '@rollcall/core/model/registry'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFound, sendJson } from '../answer.ts'
import type { HasDirectory } from '../protocol-routes.ts'
import { type HttpServer, type MethodHandler, mountMethods } from '../server.ts'
import { type Authenticating, authenticate, type OperatorListener } from './authenticate.ts'
import { type Call, type HasLog, logged, logOthers } from './call-log.ts'
import { type CallSlots, createCallSlots } from './call-slots.ts'
import { createLooks, type Looks } from './looks.ts'
import { adminDocument } from './openapi.ts'
import { type InputLimits, readInput } from './read-input.ts'
import { asRequestFault } from './refusal.ts'
import { ADMIN_BASE, type AdminNeeds, type AdminRoute, otherMembers, pathMembers } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

/** Without the caller, who is known at the call. */
type AdminParts = Omit<AdminNeeds, 'caller' | 'approvals'> & {
  /** Some acts wait for a second operator. */
  readonly twoPerson: boolean
} & HasDirectory &
  HasLog &
  Authenticating & { readonly limits: InputLimits }

export function addAdminRoutes(app: HttpServer, parts: AdminParts, listener: OperatorListener): void {
  logOthers(app, parts, ADMIN_BASE)
  const looks = createLooks(parts.clock ?? performance)
  const slots = createCallSlots()
  const handlers = new Map<string, MethodHandler[]>()
  for (const route of ADMIN_ROUTES) {
    const { method, name, path, deprecated } = route
    const rows = handlers.get(path) ?? []
    handlers.set(path, rows)
    rows.push({
      method,
      name,
      deprecated,
      handler: (request, reply) =>
        logged(parts, name, request, (call) =>
          answer({ ...parts, looks, slots }, route, listener, request, reply, call),
        ),
    })
  }
  for (const [path, rows] of handlers) {
    mountMethods(app, `${ADMIN_BASE}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, rows)
  }
  const name = 'describeAdminApi'
  const document = JSON.stringify(adminDocument(ADMIN_ROUTES))
  mountMethods(app, `${ADMIN_BASE}/openapi.json`, [
    {
      method: 'GET',
      name,
      deprecated: undefined,
      handler: (request, reply) =>
        logged(parts, name, request, async (call) => {
          await authenticate(parts, listener, request, call)
          sendJson(reply, 200, document)
        }),
    },
  ])
}

async function answer(
  { looks, slots, ...parts }: AdminParts & { readonly looks: Looks; readonly slots: CallSlots },
  route: AdminRoute,
  listener: OperatorListener,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Call,
): Promise<void> {
  // Authenticates the caller and checks the role.
  const operator = await authenticate(parts, listener, request, call)
  if (!hasRole(operator, route.role)) throw forbidden(`this call needs the role ${route.role}`)
  const place = placeOfNamespace(route)
  const check = async (given: object): Promise<void> => {
    const registry = place === null ? null : await namedRegistry(parts, given, operator)
    if (registry !== null) call.registry = registry
    if (!isFor(operator, registry)) throw elsewhere()
  }
  if (place !== 'body') await check(request[place ?? 'query'] as object)

  // Reads the input, runs the call and answers.
  const input = await readInput(route, request, parts.limits)
  // For an operator of all registries the call itself checks that the registry exists: the call may be about to add it.
  if (place === 'body' && !isFor(operator, null)) await check(input)
  const { authority } = operator
  if (authority !== null && !(await isAuthorityNamed(parts.db, authority, input.authority))) throw ofAnother()
  const { twoPerson, limits } = parts
  const approvals = twoPerson ? createApprovals({ limits, clock: parts.clock }) : ONE_OPERATOR
  const asked = { session: call.session, route, url: request.url }
  const isSameLook = looks.isRepeated(asked)
  const end = await slots.take(route, operator)
  try {
    for (const name of ['sender_id', 'participant']) await checkKnownTo(parts.db, operator, input[name])
    const caller = { kind: 'operator', operator, isSameLook } as const
    const result = await route.call({ ...parts, caller, approvals }, input)
    looks.note(asked)
    sendJson(reply, route.status, JSON.stringify(result))
  } catch (error) {
    if (!(error instanceof Proposed))
      throw error instanceof AdminRefusal ? asRequestFault(error, mayList(operator)) : error
    sendJson(reply, 202, JSON.stringify({ proposal: error.proposal }))
  } finally {
    end()
  }
}

/** Where a call names its registry; null when it is about no single one. */
function placeOfNamespace(route: AdminRoute): 'params' | 'query' | 'body' | null {
  if (pathMembers(route).includes('namespace')) return 'params'
  if (!Object.hasOwn(otherMembers(route), 'namespace')) return null
  return route.method === 'GET' ? 'query' : 'body'
}

/**
 * The registry that the input names; null for none.
 * @throws RequestFault 404 for an unknown one; 403 to a token bound to registries: it must not learn which others exist
 */
async function namedRegistry(
  { directory }: HasDirectory,
  given: { readonly namespace?: unknown },
  operator: Operator,
): Promise<Registry | null> {
  const { namespace } = given
  if (typeof namespace !== 'string') return null
  const registry = await directory.registry(namespace)
  if (registry === undefined) throw isFor(operator, null) ? notFound() : elsewhere()
  return registry
}

const forbidden = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)
const elsewhere = (): RequestFault => forbidden('the token is bound to other registries')
const ofAnother = (): RequestFault =>
  forbidden('the token is bound to one consent authority, which the call must name in authority')
