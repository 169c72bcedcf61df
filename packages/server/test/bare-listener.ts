/** A server without a database, for the routes of a listener that need none. */
import { Writable } from 'node:stream'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { createLog } from '@rollcall/observe/log'
import { createMetrics } from '@rollcall/observe/metrics'
import { createRefusalRecorder } from '@rollcall/observe/refusals'
import { createThrottle } from '@rollcall/participants/admission/throttle'
import { clientAddressReader, createRequestGate } from '../src/http/request-gate.ts'
import { createHttpServer, type HttpServer } from '../src/http/server.ts'

export function bareListener(): HttpServer {
  const log = createLog({ destination: new Writable({ write: (_chunk, _encoding, done) => done() }) })
  const metrics = createMetrics(() => ({ total: 0, idle: 0, waiting: 0 }))
  const requestGate = createRequestGate({
    refusals: createRefusalRecorder({ log, metrics, auditLog: { write: () => {}, idle: async () => {} } }),
    metrics,
    failures: createThrottle(1_000),
    clientAddress: clientAddressReader({ behindProxy: false, proxies: [] }),
  })
  return createHttpServer({ limits: DEFAULT_LIMITS, log, metrics, requestGate, databaseHealth: { failed: () => undefined } })
}
