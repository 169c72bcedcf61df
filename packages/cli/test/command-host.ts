/**
 * A process that runs commands one after the other, each with an environment and an input of its own. What takes the
 * longest of a short command is to load the program: here that is done once.
 */
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { runCommand } from '../src/program.ts'

/** A command to run. */
export interface Order {
  readonly words: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly input: string
  /** The folder it runs in; by default the one this process began in. */
  readonly cwd: string | undefined
  /** Written to both outputs behind what the command prints. */
  readonly mark: string
}

/** Milliseconds until what a command left open is closed, or the command would never have ended. */
const PATIENCE = 10_000

const CWD = process.cwd()

async function run({ words, env, input, cwd, mark }: Order): Promise<number> {
  process.chdir(cwd ?? CWD)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  Object.defineProperty(process, 'stdin', { value: Readable.from(input ? [input] : []), configurable: true })
  process.exitCode = undefined
  const before = counted(process.getActiveResourcesInfo())
  await runCommand(words)
  process.removeAllListeners('uncaughtException')
  const left = await leftOpen(before)
  if (left.length > 0) process.stderr.write(`the process would not end: ${left.join(', ')}\n`)
  for (const stream of [process.stdout, process.stderr]) stream.write(mark)
  return left.length > 0 ? -1 : Number(process.exitCode ?? 0)
}

/** New resources that keep the process from ending. */
async function leftOpen(before: ReadonlyMap<string, number>): Promise<readonly string[]> {
  for (const end = performance.now() + PATIENCE; ; await sleep(5)) {
    const now = [...counted(process.getActiveResourcesInfo())]
    const left = now.filter(([kind, count]) => count > (before.get(kind) ?? 0)).map(([kind]) => kind)
    if (left.length === 0 || performance.now() > end) return left
  }
}

function counted(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map([...new Set(names)].map((name) => [name, names.filter((other) => other === name).length]))
}

process.on('message', (order: Order) => {
  run(order).then((code) => process.send?.(code))
})
process.on('disconnect', () => process.exit())
