/** The simulation of the demo is a process of its own, which the user of the demo starts and stops on the demo's page. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const SIMULATION_PROGRAM = fileURLToPath(new URL('./simulated.ts', import.meta.url))

export interface DemoSimulation {
  isRunning(): boolean
  /** Starts or stops the simulation; does nothing when it runs, or does not run, already. */
  run(running: boolean): void
  /** Stops the simulation; resolves when its process has ended. */
  close(): Promise<void>
}

export function createDemoSimulation(): DemoSimulation {
  let child: ReturnType<typeof startProcess> | null = null
  const forget = (ended: typeof child) => () => {
    if (child === ended) child = null
  }
  const stop = (): void => {
    child?.kill()
    child = null
  }
  return {
    isRunning: () => child !== null,
    run(running) {
      if (!running) return stop()
      if (child !== null) return
      child = startProcess()
      child.once('error', forget(child)).once('exit', forget(child))
    },
    async close() {
      const ended = child && once(child, 'exit').catch(() => undefined)
      stop()
      await ended
    },
  }
}

/** Starts the process of the simulation. The process ends when its standard input ends, which happens when this process ends. */
const startProcess = () => spawn(process.execPath, [SIMULATION_PROGRAM], { stdio: ['pipe', 'ignore', 'inherit'] })
