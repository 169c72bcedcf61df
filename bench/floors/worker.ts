/** The settings of a floor's graphile worker: those that our worker has by default. */
import { Logger } from 'graphile-worker'

export const WORKER = {
  concurrency: 24,
  pollInterval: 200,
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  preset: { worker: { localQueue: { size: 48, ttl: 1_000 }, completeJobBatchDelay: 5, failJobBatchDelay: 5 } },
}
export const WORKER_CONNECTIONS = 4
