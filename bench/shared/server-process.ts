/**
 * A server under load in a process of its own. The parent starts it with `startServerProcess`; its module calls
 * `serveAsChild` and says with which port it listens. Between them: one message when it listens, questions for
 * the processor time it has used, and the request to stop.
 */
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

export interface ServerProcess {
  readonly url: string
  /** Processor time of the process since its start, in microseconds. */
  cpuMicroseconds(): Promise<number>
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
    async cpuMicroseconds() {
      child.send('cpu')
      return answerOf<number>(child)
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

/** In the child: starts, tells the parent, and stops when it says so or is gone. */
export async function serveAsChild(
  start: () => Promise<{ port: number; stop: () => Promise<void> }>,
): Promise<void> {
  const { port, stop } = await start()
  const tell = (message: Started | number): void => {
    process.send?.(message)
  }
  const end = async (): Promise<void> => {
    process.off('disconnect', end)
    await stop()
    if (process.connected) process.disconnect()
  }
  process.on('disconnect', end)
  process.on('message', (message) => {
    if (message === 'stop') void end()
    else {
      const { user, system } = process.cpuUsage()
      tell(user + system)
    }
  })
  tell({ port } satisfies Started)
}
