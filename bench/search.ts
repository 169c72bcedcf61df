/**
 * How fast a synchronous search is (bearer token, unsigned request, random identifiers of a large registry) beside
 * its floor, `floors/search.ts`. Both run at the same time in processes of their own on one database and are
 * loaded in turns by the same generator. docs/benchmarks.md says more.
 *
 *     npm run bench -- search --data /var/tmp/rollcall-bench
 */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { migrate, openStorage, readConfig } from '@rollcall/server'
import { checkAnswer, checkSameBytes, SIGNATURE_VARIABLE, signatureOf } from './search/answers.ts'
import { NAMESPACE, question } from './search/question.ts'
import { askerCredentials, filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { type Loaded, load } from './shared/load.ts'
import { wholeNumber } from './shared/options.ts'
import { writeResult } from './shared/results.ts'
import { type ServerProcess, startServerProcess } from './shared/server-process.ts'
import { median, rounded } from './shared/statistics.ts'

/** What a search must reach of its floor. */
const BAR = 0.7
/** One answer in so many is read as a whole, the others by their status alone. */
const READ_EVERY = 64
const WARM_UP_SECONDS = 3

const OPTIONS = {
  records: { type: 'string', default: '1000000' },
  seconds: { type: 'string', default: '3' },
  rounds: { type: 'string', default: '15' },
  connections: { type: 'string', default: '32' },
  data: { type: 'string' },
  'database-url': { type: 'string' },
  'cpu-prof': { type: 'string' },
} as const

interface Side {
  readonly url: string
  readonly process: ServerProcess
  /** Headers of the next round. */
  headers(): Promise<Record<string, string>>
}

interface Round extends Loaded {
  /** Processor time of the server's process, PostgreSQL's not counted. */
  readonly cpu_us_per_request: number
}

/** Measures, prints and writes `bench/results/search.json`; false when the bar is missed. */
export async function run(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: OPTIONS })
  const plan = {
    records: wholeNumber('records', values.records),
    seconds: wholeNumber('seconds', values.seconds),
    rounds: wholeNumber('rounds', values.rounds),
    connections: wholeNumber('connections', values.connections),
  }
  const temporary = values.data === undefined ? await temporaryDirectory() : undefined
  const env = serverEnvironment(values.data ?? temporary ?? '', values['database-url'])
  const storage = await openStorage({
    ...readConfig(env),
    limits: { ...readConfig(env).limits, statement_timeout: 0 },
  })
  const started: ServerProcess[] = []
  const profile = values['cpu-prof']
  const execArgv = profile === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${resolve(profile)}`]
  const start = async (module: string, more: NodeJS.ProcessEnv = {}): Promise<ServerProcess> => {
    const path = fileURLToPath(new URL(module, import.meta.url))
    const server = await startServerProcess(path, { env: { ...env, ...more }, execArgv })
    started.push(server)
    return server
  }
  try {
    await migrate(storage.db)
    const registry = await filledRegistry(storage.db, plan.records)
    const identifiers = endless(await shuffledIdentifiers(storage.db, registry))
    const credentials = await askerCredentials(storage.db)
    const rollcall = await start('./servers/rollcall.ts')
    const ours = {
      url: `${rollcall.url}/${NAMESPACE}/v1.0.0/registry/sync/search`,
      process: rollcall,
      headers: async () => ({ ...JSON_BODY, Authorization: await authorization(rollcall, credentials) }),
    }
    const identifier = identifiers.next().value
    const answer = await ask(ours, identifier)
    const bare = await start('./floors/search.ts', { [SIGNATURE_VARIABLE]: signatureOf(answer) })
    const floor = { url: `${bare.url}/search`, process: bare, headers: async () => JSON_BODY }
    checkSameBytes(answer, await ask(floor, identifier))
    return await measure({ ours, floor }, identifiers, plan)
  } finally {
    await Promise.all(started.map((server) => server.stop()))
    await storage.close()
    if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  }
}

const JSON_BODY = { 'Content-Type': 'application/json' }

/** Readable by the user that the embedded PostgreSQL runs as when we are root. */
async function temporaryDirectory(): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-bench-'))
  await chmod(directory, 0o711)
  return directory
}

/** Of this process' environment nothing that concerns a server: both run with the defaults. */
function serverEnvironment(data: string, databaseUrl: string | undefined): NodeJS.ProcessEnv {
  const { PATH, HOME } = process.env
  const database =
    databaseUrl === undefined ? { ROLLCALL_DATA: resolve(data, 'data') } : { DATABASE_URL: databaseUrl }
  return {
    PATH,
    HOME,
    HOST: '127.0.0.1',
    PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'warn',
    ...database,
  }
}

function* endless<Value>(values: readonly Value[]): Generator<Value, never> {
  if (values.length === 0) throw new Error('the registry holds nothing to search for')
  for (;;) yield* values
}

/** A new token for every round: none expires in a long run. */
async function authorization(server: ServerProcess, credentials: string): Promise<string> {
  const response = await fetch(`${server.url}/oauth2/client/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${credentials}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  })
  if (!response.ok) throw new Error(`no access token: status ${response.status}`)
  const { access_token } = (await response.json()) as { access_token: string }
  return `Bearer ${access_token}`
}

async function ask(side: Side, identifier: string): Promise<string> {
  const headers = await side.headers()
  const response = await fetch(side.url, { method: 'POST', headers, body: question(identifier) })
  const text = await response.text()
  checkAnswer(response.status, text, identifier)
  return text
}

type Sides = { readonly ours: Side; readonly floor: Side }
type Identifiers = Generator<string, never>
type Plan = { readonly [name in 'records' | 'seconds' | 'rounds' | 'connections']: number }

async function measure(sides: Sides, identifiers: Identifiers, plan: Plan): Promise<boolean> {
  for (const side of [sides.floor, sides.ours]) {
    await loadSide(side, identifiers, { ...plan, seconds: WARM_UP_SECONDS })
  }
  const ours: Round[] = []
  const floor: Round[] = []
  for (let round = 1; round <= plan.rounds; round += 1) {
    const [one, other] = [
      await loadSide(sides.floor, identifiers, plan),
      await loadSide(sides.ours, identifiers, plan),
    ]
    floor.push(one)
    ours.push(other)
    console.log(`round ${round}: floor ${told(one)}; ours ${told(other)}; ratio ${ratioOf(other, one)}`)
  }
  const ratio = rounded(median(ours.map((round, index) => ratioOf(round, floor[index] as Round))), 3)
  const passed = ratio >= BAR
  console.log(`median: floor ${told(medians(floor))}; ours ${told(medians(ours))}`)
  console.log(`ratio ${ratio.toFixed(2)}, at least ${BAR} is wanted: ${passed ? 'passed' : 'MISSED'}`)
  await writeResult('search', {
    ...plan,
    ratio,
    bar: BAR,
    passed,
    median: { ours: medians(ours), floor: medians(floor) },
    ours,
    floor,
  })
  return passed
}

async function loadSide(side: Side, identifiers: Identifiers, plan: Plan): Promise<Round> {
  let answers = 0
  const before = await side.process.cpuMicroseconds()
  const loaded = await load({
    url: side.url,
    headers: await side.headers(),
    connections: plan.connections,
    seconds: plan.seconds,
    next: () => {
      const asked = identifiers.next().value
      return { asked, body: question(asked) }
    },
    check(status, body, asked) {
      answers += 1
      if (status !== 200 || answers % READ_EVERY === 1) checkAnswer(status, body, asked)
    },
  })
  const used = (await side.process.cpuMicroseconds()) - before
  return { ...loaded, cpu_us_per_request: rounded(used / loaded.requests, 0) }
}

const MEMBERS = ['requests', 'requests_per_second', 'p50_ms', 'p99_ms', 'cpu_us_per_request'] as const

function medians(rounds: readonly Round[]): Round {
  const entries = MEMBERS.map((member) => [member, rounded(median(rounds.map((round) => round[member])), 2)])
  return Object.fromEntries(entries) as Round
}

function ratioOf(ours: Round, floor: Round): number {
  return rounded(ours.requests_per_second / floor.requests_per_second, 3)
}

function told({ requests_per_second, p50_ms, p99_ms, cpu_us_per_request }: Round): string {
  return `${requests_per_second}/s (p50 ${p50_ms} ms, p99 ${p99_ms} ms, ${cpu_us_per_request} µs of processor each)`
}

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
