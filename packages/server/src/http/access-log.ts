/**
 * The access log: a line for each answered request, with sender, operation, result and duration. The only content of a message
 * in a line is ids. An id that the sender chose is logged only if it is a UUID or a traceparent: any other text may be personal
 * data.
 */

import { readTraceparent } from '@rollcall/core/model/traceparent'
import type { Log } from '@rollcall/observe/log'
import type { Metrics, RequestOutcome } from '@rollcall/observe/metrics'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { NotedRequestFacts, RequestGate } from './request-gate.ts'

/** Routes that load balancers and supervisors request every few seconds. Their lines have the level debug. */
const PROBE_ROUTES: ReadonlySet<string> = new Set(['health', 'ready'])

const UUID_PATTERN = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i

/**
 * Adds the access log to a server.
 * @param options.level the log level of lines. Those of probes, and of refused requests without a known participant, have `debug`
 */
export function addAccessLog(
  app: FastifyInstance,
  deps: { readonly log: Log; readonly metrics: Pick<Metrics, 'requestAnswered'>; readonly requestGate: RequestGate },
  { level }: { readonly level: AccessLogLevel },
): void {
  const { log, metrics, requestGate } = deps
  app.addHook('onResponse', (request, reply, done) => {
    const { name = 'none', mode = '' } = request.routeOptions.config
    const status = reply.raw.statusCode
    const noted = requestGate.notedFacts(request.raw)
    const outcome = requestOutcomeOf(status, noted)
    metrics.requestAnswered({ route: name, mode, status, outcome }, reply.elapsedTime / 1_000)
    // A stranger is a sender who is not known as a participant. A refused request of a stranger gets only a debug line here,
    // because strangers could fill the log: `observe/src/refusals.ts` logs one a minute for each combination of refusal, address
    // and reason.
    const isStranger = outcome === 'refused' && noted.participant === null
    const lineLevel = PROBE_ROUTES.has(name) || isStranger ? 'debug' : level
    if (log.isLevelEnabled(lineLevel)) {
      const ms = Math.round(reply.elapsedTime * 10) / 10
      const line = { operation: name, ...(mode !== '' && { mode }), ...loggedRequestFacts(noted) }
      const about = { address: requestGate.unit(request.raw), ...loggedRequestIds(request, noted) }
      log[lineLevel]({ ...line, ...about, outcome, status, ms }, 'request answered')
    }
    done()
  })
}

/** The log level of the lines of the access log. */
export type AccessLogLevel = 'info' | 'debug'

function requestOutcomeOf(status: number, { code }: NotedRequestFacts): RequestOutcome {
  if (status >= 500) return 'failed'
  if (status >= 400) return 'refused'
  return code === undefined ? 'done' : 'rejected'
}

const loggedRequestFacts = ({ registry, participant, code }: NotedRequestFacts) => ({
  ...(registry !== null && { registry }),
  ...(participant !== null && { participant }),
  ...(code !== undefined && { code }),
})

/** Returns the noted message_id and correlation_id if they are UUIDs, and the traceparent if it is valid. */
function loggedRequestIds({ headers }: FastifyRequest, { message_id, correlation_id }: NotedRequestFacts): object {
  const traceparent = readTraceparent(headers.traceparent)
  return {
    ...(isUuid(message_id) && { message_id }),
    ...(isUuid(correlation_id) && { correlation_id }),
    ...(traceparent !== null && { traceparent }),
  }
}

const isUuid = (id: string | undefined): boolean => id !== undefined && UUID_PATTERN.test(id)
