/**
 * A server under load in a process of its own. The parent starts it with `startServerProcess`; its module calls
 * `serveAsChild` and says with which port it listens. Between them: one message when it listens, questions for
 * what it has used, and the request to stop.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { monitorEventLoopDelay } from 'node:perf_hooks'

/** The figures that a server's process reports about itself. */
export interface Usage {
  /** Processor time of the process since its start, in microseconds. */
  readonly cpu_us: number
  /** Delay of its event loop since the last report: 99th percentile. */
  readonly event_loop_delay_p99_ms: number
  /** Memory of the process that is in use now. */
  readonly rss_bytes: number
}

export interface ServerProcess {
  readonly url: string
  usage(): Promise<Usage>
  /** Stops it and waits for its end. */
  stop(): Promise<void>
}

interface Started {
  readonly port: number
}

/** Starts the module at `path` and waits until it listens. Throws an Error when it ends before that. */
export async function startServerProcess(
  path: string,
  options: { readonly env: NodeJS.ProcessEnv; readonly execArgv?: readonly string[] },
): Promise<ServerProcess> {
  const child = fork(path, { env: options.env, execArgv: [...(options.execArgv ?? [])] })
  const { port } = await answerOf<Started>(child)
  return {
    url: `http://127.0.0.1:${port}`,
    async usage() {
      child.send('usage')
      return answerOf<Usage>(child)
    },
    async stop() {
      if (child.exitCode !== null) return
      const ended = once(child, 'exit')
      child.send('stop')
      await ended
    },
  }
}

function answerOf<Answer>(child: ChildProcess): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: unknown): void => {
      child.off('exit', onExit)
      resolve(message as Answer)
    }
    const onExit = (): void => {
      child.off('message', onMessage)
      reject(new Error('a server under load ended by itself'))
    }
    child.once('message', onMessage).once('exit', onExit)
  })
}

/** Starts a server with this environment. */
export type StartServer = (env: NodeJS.ProcessEnv) => Promise<{ port: number; stop: () => Promise<void> }>

/** Starts it in this process, whose processor time it then tells. */
export async function startWithin(start: StartServer, env: NodeJS.ProcessEnv): Promise<ServerProcess> {
  const { port, stop } = await start(env)
  const usage = usageMeter()
  let stopped: Promise<void> | undefined
  return {
    url: `http://127.0.0.1:${port}`,
    usage: async () => usage(),
    stop() {
      stopped ??= stop()
      return stopped
    },
  }
}

/** Runs in the child process: starts a server, tells the parent, and stops when the parent says so or has ended. */
export async function serveAsChild(start: StartServer): Promise<void> {
  const { port, stop } = await start(process.env)
  const tell = (message: Started | Usage): void => {
    process.send?.(message)
  }
  const end = async (): Promise<void> => {
    process.off('disconnect', end)
    await stop()
    if (process.connected) process.disconnect()
  }
  const usage = usageMeter()
  process.on('disconnect', end)
  process.on('message', (message) => {
    if (message === 'stop') void end()
    else tell(usage())
  })
  tell({ port } satisfies Started)
}

/** Milliseconds from one probe of the event loop to the next. */
const PROBE_EVERY = 1

function usageMeter(): () => Usage {
  const probe = monitorEventLoopDelay({ resolution: PROBE_EVERY })
  probe.enable()
  return () => {
    const { user, system } = process.cpuUsage()
    // The histogram has the times between two probes; only the part above their distance is a delay.
    const between = probe.percentile(99) / 1e6
    probe.reset()
    return {
      cpu_us: user + system,
      event_loop_delay_p99_ms: Math.max(0, between - PROBE_EVERY),
      rss_bytes: process.memoryUsage.rss(),
    }
  }
}
