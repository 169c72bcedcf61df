/** Requests to end the process: by Ctrl-C, by a supervisor, or by a terminal that closes. */

const SIGNAL_NUMBERS = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const

/** Signals within this many milliseconds are one request: one Ctrl-C comes from the terminal, and once more through npm. */
const REPEATED_SIGNAL_MILLISECONDS = 500

/** A request to end the process, which a signal makes. */
export interface StopRequest {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal
  /** Resolves when the first signal comes. */
  readonly asked: Promise<void>
}

let stopRequest: StopRequest | null = null

/** Listens for signals. The first requests a clean stop; another ends the process, unless it counts as the same request. */
export function listenForStop(): StopRequest {
  stopRequest ??= listenForSignals()
  return stopRequest
}

function listenForSignals(): StopRequest {
  const controller = new AbortController()
  const { promise: asked, resolve } = Promise.withResolvers<void>()
  let first = 0
  for (const [name, number] of Object.entries(SIGNAL_NUMBERS)) {
    process.on(name, () => {
      if (first === 0) {
        first = Date.now()
        controller.abort()
        resolve()
      } else if (Date.now() - first > REPEATED_SIGNAL_MILLISECONDS) process.exit(128 + number)
    })
  }
  return { signal: controller.signal, asked }
}
