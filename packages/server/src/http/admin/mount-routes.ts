/** Mounts the admin API on the operator's listener: a route for each row of its table, with the steps of a call. */

import { NO_APPROVAL_NEEDED } from '@rollcall/admin/act'
import { AdminRefusal } from '@rollcall/admin/admin-function'
import { ActWaitsError, createApprovalService } from '@rollcall/admin/approvals/approval'
import type { HasDatabase } from '@rollcall/admin/deps'
import { canListParticipants, checkOperatorKnowsParticipant } from '@rollcall/admin/participants/known'
import { isAuthorityNamed } from '@rollcall/consents/store/authorities'
import { hasRole, mayUseRegistry, type Operator } from '@rollcall/core/model/operator'
import type { Registry } from '@rollcall/core/model/registry'
import { RequestFault } from '@rollcall/protocol'
import { findRegistry } from '@rollcall/records/registries/registries'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { notFoundFault, sendJson } from '../answer.ts'
import { type HttpServer, mountCalls, mountHandler } from '../server.ts'
import { type AuthenticationDeps, authenticate, type OperatorListener } from './authenticate.ts'
import { type CallFacts, type CallLogDeps, logRequestsWithoutCall, runLoggedCall } from './call-log.ts'
import { type CallSlots, createCallSlots } from './call-slots.ts'
import { makeAdminApiDocument } from './openapi.ts'
import { type InputLimits, readInput } from './read-input.ts'
import { asRequestFault } from './refusal.ts'
import { createRepeatedAccesses, type RepeatedAccesses } from './repeated-accesses.ts'
import { ADMIN_BASE, type AdminDeps, type AdminRoute, pathMembers, queryOrBodyMembers } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

/** The dependencies of all calls of the admin API; each call adds its caller and its approvals. */
type AdminRouteDeps = Omit<AdminDeps, 'caller' | 'approvals'> & {
  /** True when some acts wait for a second operator. */
  readonly twoPerson: boolean
} & CallLogDeps &
  AuthenticationDeps & { readonly limits: InputLimits }

export function addAdminRoutes(app: HttpServer, deps: AdminRouteDeps, listener: OperatorListener): void {
  logRequestsWithoutCall(app, deps, ADMIN_BASE)
  const repeatedAccesses = createRepeatedAccesses(deps.clock ?? performance)
  const slots = createCallSlots()
  mountCalls(
    app,
    ADMIN_BASE,
    ADMIN_ROUTES,
    (route) => (request, reply) =>
      runLoggedCall(deps, route.name, request, (call) =>
        answerAdminCall({ ...deps, repeatedAccesses, slots }, route, listener, request, reply, call),
      ),
  )
  const name = 'describeAdminApi'
  // The document is made at the first request for it: it is long, and most nodes never get such a request.
  let document: string | undefined
  mountHandler(app, 'GET', name, `${ADMIN_BASE}/openapi.json`, (request, reply) =>
    runLoggedCall(deps, name, request, async (call) => {
      await authenticate(deps, listener, request, call)
      document ??= JSON.stringify(makeAdminApiDocument(ADMIN_ROUTES))
      sendJson(reply, 200, document)
    }),
  )
}

async function answerAdminCall(
  {
    repeatedAccesses,
    slots,
    ...deps
  }: AdminRouteDeps & { readonly repeatedAccesses: RepeatedAccesses; readonly slots: CallSlots },
  route: AdminRoute,
  listener: OperatorListener,
  request: FastifyRequest,
  reply: FastifyReply,
  call: CallFacts,
): Promise<void> {
  // Authenticates the caller, and checks the role and the registry. A registry in the body is checked after the body is read.
  const operator = await authenticate(deps, listener, request, call)
  if (!hasRole(operator, route.role)) throw forbiddenFault(`this call needs the role ${route.role}`)
  const place = findNamespacePlace(route)
  const check = async (given: object): Promise<void> => {
    const registry = place === null ? null : await findNamedRegistry(deps, given, operator)
    if (registry !== null) call.registry = registry
    if (!mayUseRegistry(operator, registry)) throw otherRegistriesFault()
  }
  if (place !== 'body') await check(request[place ?? 'query'] as object)

  // Reads the input, takes a slot, runs the call and answers.
  const input = await readInput(route, request, deps.limits)
  // A registry in the body is checked only for an operator of some registries. An operator of all may name one that does not
  // exist yet, because some calls add a registry.
  if (place === 'body' && !mayUseRegistry(operator, null)) await check(input)
  const { authority } = operator
  if (authority !== null && !(await isAuthorityNamed(deps.db, authority, input.authority))) throw otherConsentAuthorityFault()
  const { twoPerson, limits } = deps
  const approvals = twoPerson ? createApprovalService({ limits, clock: deps.clock }) : NO_APPROVAL_NEEDED
  const asked = { session: call.session, route, url: request.url }
  const isRepeatedAccess = repeatedAccesses.isRepeated(asked)
  const end = await slots.take(route, operator)
  try {
    for (const name of ['sender_id', 'participant']) await checkOperatorKnowsParticipant(deps.db, operator, input[name])
    const caller = { kind: 'operator', operator, isRepeatedAccess } as const
    const result = await route.call({ ...deps, caller, approvals }, input)
    repeatedAccesses.note(asked)
    sendJson(reply, route.status, JSON.stringify(result))
  } catch (error) {
    if (!(error instanceof ActWaitsError))
      throw error instanceof AdminRefusal ? asRequestFault(error, canListParticipants(operator)) : error
    sendJson(reply, 202, JSON.stringify({ proposal: error.proposal }))
  } finally {
    end()
  }
}

/** Where a call names its registry: in the path, the query or the body; null when it cannot name one. */
function findNamespacePlace(route: AdminRoute): 'params' | 'query' | 'body' | null {
  if (pathMembers(route).includes('namespace')) return 'params'
  if (!Object.hasOwn(queryOrBodyMembers(route), 'namespace')) return null
  return route.method === 'GET' ? 'query' : 'body'
}

/**
 * The registry that a call names in its member `namespace`; null when it names none.
 * @param given the members of the path, the query or the body
 * @throws RequestFault there is no such registry: 404, or 403 for an operator who is bound to registries and must not learn which
 * others exist
 */
async function findNamedRegistry(
  { db }: HasDatabase,
  given: { readonly namespace?: unknown },
  operator: Operator,
): Promise<Registry | null> {
  const { namespace } = given
  if (typeof namespace !== 'string') return null
  // The directory of this node may be half a second old, and would not know a registry that the call before this one has added.
  const registry = await findRegistry(db, namespace)
  if (registry === null) throw mayUseRegistry(operator, null) ? notFoundFault() : otherRegistriesFault()
  return registry
}

const forbiddenFault = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)
const otherRegistriesFault = (): RequestFault => forbiddenFault('the token is bound to other registries')
/** Says that a call does not name the consent authority to which the token is limited. */
const otherConsentAuthorityFault = (): RequestFault =>
  forbiddenFault('the token is bound to one consent authority, which the call must name in authority')
