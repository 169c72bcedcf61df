/** The admin API on the operator's listener: a route for each row of its table. The life of a call is on this screen. */
import type { IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { AdminRefusal, type RefusalReason } from '../../admin/use-case.ts'
import type { Operators } from '../../directory/operators.ts'
import { bearerToken, unauthorized } from '../../exchange/authenticate.ts'
import { hasRole, isFor, isForAuthority, type Operator } from '../../model/operator.ts'
import type { Registry } from '../../model/registry.ts'
import type { Log } from '../../observe/log.ts'
import { notFound, sendJson } from '../answer.ts'
import { checkOperatorHost, type IsOwnHost } from '../operator-host.ts'
import type { HasDirectory } from '../protocol-routes.ts'
import { type HttpServer, type MethodHandler, mountMethods } from '../server.ts'
import { adminDocument } from './openapi.ts'
import { type InputLimits, readInput } from './read-input.ts'
import { ADMIN_BASE, type AdminNeeds, type AdminRoute, otherMembers, pathMembers } from './route.ts'
import { ADMIN_ROUTES } from './routes.ts'

/** The operator is known when it calls. */
type AdminParts = Omit<AdminNeeds, 'operator'> &
  HasDirectory & {
    readonly operators: Operators
    readonly log: Pick<Log, 'info'>
    readonly limits: InputLimits
  }

export function addAdminRoutes(app: HttpServer, parts: AdminParts, isOwnHost: IsOwnHost): void {
  logOthers(app, parts)
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
        logged(parts, name, request, (call) => answer(parts, route, isOwnHost, request, reply, call)),
    })
  }
  for (const [path, rows] of handlers) {
    mountMethods(app, `${ADMIN_BASE}${path.replaceAll(/\{(\w+)\}/g, ':$1')}`, rows)
  }
  const name = 'describeAdminApi'
  const document = JSON.stringify(adminDocument(ADMIN_ROUTES))
  mountMethods(app, `${ADMIN_BASE}/openapi.json`, [
    {
      ...{ method: 'GET', name, deprecated: undefined },
      handler: (request, reply) =>
        logged(parts, name, request, async (call) => {
          call.operator = await authenticate(parts, isOwnHost, request)
          sendJson(reply, 200, document)
        }),
    },
  ])
}

/** What is logged of a call: never what was sent and what was answered. */
interface Call {
  operator?: Operator
  registry?: Registry
}

async function answer(
  parts: AdminParts,
  route: AdminRoute,
  isOwnHost: IsOwnHost,
  request: FastifyRequest,
  reply: FastifyReply,
  call: Call,
): Promise<void> {
  // Who calls, and may they?
  const operator = await authenticate(parts, isOwnHost, request)
  call.operator = operator
  if (!hasRole(operator, route.role)) throw forbidden(`this call needs the role ${route.role}`)
  const place = placeOfNamespace(route)
  const check = async (given: object): Promise<void> => {
    const registry = place === null ? null : await namedRegistry(parts, given, operator)
    if (registry !== null) call.registry = registry
    if (!isFor(operator, registry)) throw elsewhere()
  }
  if (place !== 'body') await check(request[place ?? 'query'] as object)

  // What is asked for, and the answer.
  const input = await readInput(route, request, parts.limits)
  if (place === 'body') await check(input)
  if (!isForAuthority(operator, input.authority)) throw ofAnother()
  const result = await route.call({ ...parts, operator: operator.name }, input).catch((error: unknown) => {
    throw error instanceof AdminRefusal ? asFault(error) : error
  })
  sendJson(reply, route.status, JSON.stringify(result))
}

/** Where a call names the one registry that it is about; null: it is of no single one. */
function placeOfNamespace(route: AdminRoute): 'params' | 'query' | 'body' | null {
  if (pathMembers(route).includes('namespace')) return 'params'
  if (!Object.hasOwn(otherMembers(route), 'namespace')) return null
  return route.method === 'GET' ? 'query' : 'body'
}

/**
 * The registry that is named; null: none is.
 * @throws RequestFault 404 there is none; 403 to a token that is bound to registries: it does not learn which others there are
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

/** @throws RequestFault 401, 421 */
async function authenticate(
  { operators }: Pick<AdminParts, 'operators'>,
  isOwnHost: IsOwnHost,
  { headers, raw }: Pick<FastifyRequest, 'headers' | 'raw'>,
): Promise<Operator> {
  checkOperatorHost(isOwnHost, raw)
  const operator = await operators.operatorOf(bearerToken(headers.authorization))
  if (operator !== null) return operator
  throw unauthorized('Authorization: the operator token is not valid here, has expired or was revoked')
}

const forbidden = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)
const elsewhere = (): RequestFault => forbidden('the token is bound to other registries')
const ofAnother = (): RequestFault =>
  forbidden('the token is bound to one consent authority, which the call must name in authority')

const REASONS: Readonly<
  Record<RefusalReason, readonly [code: 'err.request.bad' | 'err.request.not_found', status: number]>
> = {
  invalid: ['err.request.bad', 400],
  not_found: ['err.request.not_found', 404],
  conflict: ['err.request.bad', 409],
}

function asFault({ reason, message }: AdminRefusal): RequestFault {
  const [code, status] = REASONS[reason]
  return new RequestFault(code, message, status)
}

/** Every call has a line in the log: who, what, in which registry, and how it ended. */
async function logged(
  { log }: Pick<AdminParts, 'log'>,
  name: string,
  request: FastifyRequest,
  work: (call: Call) => Promise<void>,
): Promise<void> {
  const call: Call = {}
  const begun = performance.now()
  const note = (outcome: object): void =>
    write(log, name, request, call, { ...outcome, ms: tenths(performance.now() - begun) })
  try {
    await work(call)
    note({ outcome: 'done' })
  } catch (error) {
    note(
      error instanceof RequestFault
        ? { outcome: 'refused', code: error.code, status: error.httpStatus }
        : { outcome: 'failed' },
    )
    throw error
  }
}

/** Milliseconds, as in the access log. */
const tenths = (ms: number): number => Math.round(ms * 10) / 10

/** Requests that have their line. */
const written = new WeakSet<IncomingMessage>()

function write(
  log: Pick<Log, 'info'>,
  name: string | null,
  { raw }: FastifyRequest,
  { operator, registry }: Call,
  outcome: object,
): void {
  written.add(raw)
  log.info(
    {
      call: name,
      ...{ operator: operator?.name ?? null, token: operator?.id ?? null },
      ...(registry && { registry: registry.namespace }),
      ...{ address: raw.socket.remoteAddress, ...outcome },
    },
    'admin call',
  )
}

/** What comes to no call has its line as well: unknown paths, and other methods. The path as it was sent is not logged. */
function logOthers(app: HttpServer, { log }: Pick<AdminParts, 'log'>): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = request.routeOptions
    if ((url ?? request.url).startsWith(ADMIN_BASE) && !written.has(request.raw)) {
      write(
        log,
        config.name ?? null,
        request,
        {},
        {
          ...{ outcome: 'refused', status: reply.raw.statusCode, ms: tenths(reply.elapsedTime) },
        },
      )
    }
    done()
  })
}
