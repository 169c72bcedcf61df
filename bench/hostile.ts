/**
 * Whether one participant's large bodies hold up another's searches: a synchronous search, one after the other, idle and
 * while eight bodies of one shape are always on their way. docs/benchmarks.md says more.
 *
 *     npm run bench -- hostile --data /var/tmp/rollcall-bench
 */
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { Database } from '@rollcall/database/database'
import { type Receiver, startReceiver } from './async/receiver.ts'
import { DEFAULT_CALLBACKS, registerCalled, startRollcall } from './async/setting.ts'
import { SHAPES, type Shape } from './hostile/bodies.ts'
import { type Answered, type SendersStart, sendWhile } from './hostile/senders.ts'
import { ASKER_SENDER, NAMESPACE, question } from './search/question.ts'
import { credentialsOf, filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { authorization, endless, type Identifiers, JSON_BODY } from './search/setting.ts'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'
import type { ServerProcess } from './shared/server-process.ts'
import { median, rounded } from './shared/statistics.ts'

const NUMBERS = {
  records: [20_000, 50],
  /** Milliseconds of a phase. */
  milliseconds: [8_000, 1],
  senders: [8, 1],
  /** Percent of the full size of a body. */
  size: [100, 1],
} as const

type Plan = Readonly<Record<keyof typeof NUMBERS, number>>

/** Median as a multiple of the idle one, and the worst in milliseconds. */
const BARS = { median: 3, worst_ms: 1_000 }
/** Milliseconds from one answer to the next question. */
const PAUSE = 20
/** Milliseconds until the senders are at work. */
const BEGUN = 500

interface Phase {
  readonly searches: number
  readonly median_ms: number
  readonly worst_ms: number
}

/** Measures, prints and writes `hostile.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { records, milliseconds } = plan
  const receiver = await startReceiver()
  try {
    return await withBenchDatabase(place, async (database) => {
      const { db } = database
      const identifiers = endless(await shuffledIdentifiers(db, await filledRegistry(db, records)))
      const rollcall = await startRollcall(database)
      const asker = await credentialsOf(db, ASKER_SENDER, UNSIGNED)
      const search = () => searches(rollcall, asker, identifiers, milliseconds)
      await registerCalled(db, rollcall, receiver, senderOf('if-present'), DEFAULT_CALLBACKS)
      await search()
      const found = []
      for (const shape of SHAPES) {
        const idle = await search()
        const { cpu_us } = await rollcall.usage()
        const load = await startSenders(db, rollcall, receiver, shape, { ...plan, here: place.smallest === true })
        const beside = await search()
        const answered = await load.stop()
        const cpu_ms = ((await rollcall.usage()).cpu_us - cpu_us) / 1_000
        const bodies = Object.values(answered).reduce((sum, count) => sum + count, 0)
        const cpu_ms_each = rounded(cpu_ms / bodies, 0)
        const factor = rounded(beside.median_ms / idle.median_ms, 2)
        const passed = factor <= BARS.median && beside.worst_ms < BARS.worst_ms
        found.push({ shape: shape.name, idle, beside, factor, answered, cpu_ms_each, passed })
        console.log(
          `${shape.name}: idle ${told(idle)}; beside ${told(beside)}, ${factor} times; ` +
            `answered ${JSON.stringify(answered)}, ${cpu_ms_each} ms of processor each: ${passed ? 'passed' : 'MISSED'}`,
        )
        if (!Object.hasOwn(answered, shape.status)) throw new Error(`none was answered ${shape.status}`)
      }
      await writeResult('hostile', { ...plan, bars: BARS, found })
      return found.map(({ shape, idle, beside, factor, cpu_ms_each, passed }) => ({
        what: `hostile, ${shape}`,
        ours: `${told(beside)}; ${cpu_ms_each} ms of processor for a body`,
        floor: `${told(idle)} when idle`,
        figure: `${factor} times, worst ${beside.worst_ms} ms`,
        wanted: `at most ${BARS.median} times, under ${BARS.worst_ms} ms`,
        passed,
      }))
    })
  } finally {
    await receiver.close()
  }
}

const UNSIGNED = { signature_policy: 'if-present', allow_unsigned: true } as const
const REQUIRED = { signature_policy: 'required', allow_unsigned: false } as const

const senderOf = (policy: Shape['policy']): string => `large-${policy}.bench.example`

/** Sends one search after the other, and times each answer. */
async function searches(
  rollcall: ServerProcess,
  credentials: string,
  identifiers: Identifiers,
  milliseconds: number,
): Promise<Phase> {
  const url = `${rollcall.url}/${NAMESPACE}/v1.0.0/registry/sync/search`
  const headers = { ...JSON_BODY, Authorization: await authorization(rollcall, credentials) }
  const times: number[] = []
  const end = performance.now() + milliseconds
  do {
    const body = question(identifiers.next().value)
    const begun = performance.now()
    const response = await fetch(url, { method: 'POST', headers, body })
    await response.text()
    times.push(performance.now() - begun)
    if (response.status !== 200) throw new Error(`a search was answered ${response.status}`)
    await sleep(PAUSE)
  } while (performance.now() < end)
  return { searches: times.length, median_ms: rounded(median(times), 1), worst_ms: rounded(Math.max(...times), 0) }
}

async function startSenders(
  db: Database,
  rollcall: ServerProcess,
  receiver: Receiver,
  { name, policy, path }: Shape,
  { senders, size, here }: Pick<Plan, 'senders' | 'size'> & { readonly here: boolean },
): Promise<{ stop(): Promise<Answered> }> {
  const sender_id = senderOf(policy)
  const credentials = await credentialsOf(db, sender_id, policy === 'required' ? REQUIRED : UNSIGNED)
  const start: SendersStart = {
    shape: name,
    url: `${rollcall.url}/${NAMESPACE}/v1.0.0/${path}`,
    sender_id,
    sender_uri: receiver.address(sender_id),
    authorization: await authorization(rollcall, credentials),
    senders,
    size: size / 100,
  }
  if (here) {
    const answered = sendWhile(start, () => false)
    return { stop: () => answered }
  }
  const thread = new Worker(new URL('./hostile/senders.ts', import.meta.url), { workerData: start })
  await once(thread, 'message')
  await sleep(BEGUN)
  return {
    async stop() {
      thread.postMessage('stop')
      const [answered] = (await once(thread, 'message')) as [Answered]
      return answered
    },
  }
}

const told = ({ median_ms, worst_ms, searches }: Phase): string => `median ${median_ms} ms, worst ${worst_ms} ms of ${searches}`
