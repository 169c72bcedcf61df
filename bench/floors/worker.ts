/** How the graphile worker of a floor is set: as ours is by default. */
import { Logger } from 'graphile-worker'

export const WORKER = {
  concurrency: 24,
  pollInterval: 200,
  noHandleSignals: true,
  logger: new Logger(() => () => undefined),
  preset: { worker: { localQueue: { size: 48, ttl: 1_000 }, completeJobBatchDelay: 5, failJobBatchDelay: 5 } },
}
export const WORKER_CONNECTIONS = 4
