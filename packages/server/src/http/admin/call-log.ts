/** Logs every call of the admin API: who, which call, in which registry, and the result. */
import type { IncomingMessage } from 'node:http'
import type { Operator } from '@rollcall/core/model/operator'
import type { Registry } from '@rollcall/core/model/registry'
import type { Log } from '@rollcall/observe/log'
import type { OperatorSession } from '@rollcall/participants/directory/sessions'
import { RequestFault } from '@rollcall/protocol'
import type { FastifyRequest } from 'fastify'
import type { RequestGate } from '../request-gate.ts'
import type { HttpServer } from '../server.ts'

/** The logged facts of a call: never its input or its answer. */
export interface Call {
  operator?: Operator
  /** Set when the operator is signed in to the console. */
  session?: Pick<OperatorSession, 'id'>
  registry?: Registry
}

export interface HasLog {
  readonly log: Pick<Log, 'info'>
  readonly requestGate: Pick<RequestGate, 'address'>
}

/** Does the work of a call, and writes its line. */
export async function runLogged(
  deps: HasLog,
  name: string,
  request: FastifyRequest,
  work: (call: Call) => Promise<void>,
): Promise<void> {
  const call: Call = {}
  const begun = performance.now()
  const note = (outcome: object): void =>
    write(deps, name, request, call, { ...outcome, ms: tenths(performance.now() - begun) })
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
  { log, requestGate }: HasLog,
  name: string | null,
  { raw }: FastifyRequest,
  { operator, session, registry }: Call,
  outcome: object,
): void {
  written.add(raw)
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
 * Also logs requests that reach no call: unknown paths and other methods. The path of the request is not logged.
 * @param base beginning of the paths of all calls
 */
export function logOthers(app: HttpServer, deps: HasLog, base: string): void {
  app.addHook('onResponse', (request, reply, done) => {
    const { url, config } = request.routeOptions
    if ((url ?? request.url).startsWith(base) && !written.has(request.raw)) {
      const ms = tenths(reply.elapsedTime)
      write(deps, config.name ?? null, request, {}, { outcome: 'refused', status: reply.raw.statusCode, ms })
    }
    done()
  })
}
