/** Logs every call of the admin API: the operator, the call, the registry and the result. */
import type { IncomingMessage } from 'node:http'
import type { Operator } from '@rollcall/core/model/operator'
import type { Registry } from '@rollcall/core/model/registry'
import type { Log } from '@rollcall/observe/log'
import type { OperatorSession } from '@rollcall/participants/directory/sessions'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { RequestGate } from '../request-gate.ts'
import type { HttpServer } from '../server.ts'

/** The facts about a call that are logged, never its input or its answer. */
export interface CallFacts {
  operator?: Operator
  /** The session of the console; undefined for a call with a token. */
  session?: Pick<OperatorSession, 'id'>
  registry?: Registry
}

export interface CallLogDeps {
  readonly log: Pick<Log, 'info'>
  readonly requestGate: Pick<RequestGate, 'address'>
}

/** Runs the work of a call of the admin API, and logs the call. */
export async function runLoggedCall(
  deps: CallLogDeps,
  name: string,
  request: FastifyRequest,
  work: (call: CallFacts) => Promise<void>,
): Promise<void> {
  const call: CallFacts = {}
  const begun = performance.now()
  const note = (outcome: object): void =>
    logCall(deps, name, request, call, { ...outcome, ms: roundToTenths(performance.now() - begun) })
  try {
    await work(call)
    note({ outcome: 'done' })
  } catch (error) {
    note(
      error instanceof RequestFault ? { outcome: 'refused', code: error.code, status: error.httpStatus } : { outcome: 'failed' },
    )
    throw error
  }
}

/** Rounds milliseconds to tenths, as the access log does. */
const roundToTenths = (ms: number): number => Math.round(ms * 10) / 10

/** The HTTP requests that `logCall` has logged: `logRequestsWithoutCall` does not log them again. */
const loggedRequests = new WeakSet<IncomingMessage>()

function logCall(
  { log, requestGate }: CallLogDeps,
  name: string | null,
  { raw }: FastifyRequest,
  { operator, session, registry }: CallFacts,
  outcome: object,
): void {
  loggedRequests.add(raw)
  log.info(
    {
      call: name,
      operator: operator?.name ?? null,
      token: operator?.id ?? null,
      ...(session && { session: session.id }),
      ...(registry && { registry: registry.namespace }),
      address: requestGate.address(raw),
      ...outcome,
    },
    'admin call',
  )
}

/**
 * Logs requests below the path of the admin API that match no call, because the path or its method is unknown. The paths are not
 * logged.
 * @param base the beginning of the paths of the admin API
 */
export function logRequestsWithoutCall(app: HttpServer, deps: CallLogDeps, base: string): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = request.routeOptions
    if ((url ?? request.url).startsWith(base) && !loggedRequests.has(request.raw)) {
      const ms = roundToTenths(reply.elapsedTime)
      logCall(deps, config.name ?? null, request, {}, { outcome: 'refused', status: reply.raw.statusCode, ms })
    }
    done()
  })
}
