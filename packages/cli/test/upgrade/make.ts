/**
 * Makes a fixture of the upgrade test, with the code of an earlier commit: its server accepts requests and is killed in
 * the middle of answering them. README.md says how it is run.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import pg from 'pg'
import { askToken } from '../ask.ts'
import { dumpDatabase } from './dump.ts'
import { type AcknowledgedRequest, FIXTURE_MASTER_KEY, FIXTURE_RECEIVER, fixtureFile } from './world.ts'

const [commit = '', folder = ''] = process.argv.slice(2)
if (folder === '') throw new Error('make.ts <commit> <folder with the files of that commit>')
const worktree = resolve(folder)

/** A module of the earlier commit. What is used of it has been as it is today. */
const { resolve: pathOf } = createRequire(join(worktree, 'packages/cli/src/main.ts'))
const earlier = <Module>(name: string): Promise<Module> => import(pathToFileURL(pathOf(name)).href) as Promise<Module>
type Participants = typeof import('@rollcall/participants/store/participants')
const { addParticipant } = await earlier<Participants>('@rollcall/participants/store/participants')
type Callbacks = typeof import('@rollcall/participants/store/participant-callbacks')
const { setCallbackSettings } = await earlier<Callbacks>('@rollcall/participants/store/participant-callbacks')
type Secrets = typeof import('@rollcall/participants/store/client-secrets')
const { addSecret } = await earlier<Secrets>('@rollcall/participants/store/client-secrets')
type NewSecrets = typeof import('@rollcall/participants/directory/secrets')
const { newSecret } = await earlier<NewSecrets>('@rollcall/participants/directory/secrets')
type Registries = typeof import('@rollcall/records/registries/registries')
const { addRegistry } = await earlier<Registries>('@rollcall/records/registries/registries')
type Import = typeof import('@rollcall/import/import-file')
const { importFile } = await earlier<Import>('@rollcall/import/import-file')
type Tables = typeof import('@rollcall/database/database')
const { migrate, openDatabase } = await earlier<Tables>('@rollcall/database/database')

const directory = await mkdtemp(join(tmpdir(), 'rollcall-fixture-'))
// As root PostgreSQL runs as somebody else, who has to get through.
await chmod(directory, 0o711)
const postgres = await openEmbeddedPostgres(directory)
const connection = postgres.connection as Readonly<Record<'host' | 'user' | 'password' | 'database', string>> & {
  readonly port: number
}
const db = openDatabase(connection)
await migrate(db)

/** Registries: searches of the one are held up by a lock, those of the other fail. */
const HELD = 'civil'
const BROKEN = 'social'
const RECORDS = 5
const PHONE = '+1 555 0100'
for (const namespace of [HELD, BROKEN]) {
  const registry = await addRegistry(db, { namespace, kind: 'civil', sender_id: `${namespace}.example` })
  const lines = Array.from({ length: RECORDS }, (_, index) => {
    const identifier = [{ identifier_type: 'UIN', identifier_value: `P-${index}` }]
    return `${JSON.stringify({ '@type': 'CRVS_Person', identifier, phone_number: [PHONE] })}\n`
  })
  const source = Readable.from(lines.map((line) => Buffer.from(line)))
  await importFile(db, registry, source, { format: 'ndjson', rejectsPath: null })
}

/** The treatment of callbacks by each participant, by its name. */
type Treatment = 'take' | 'refuse' | 'keep waiting'
const treatments = new Map<string, (nth: number) => Treatment>()
const calls = new Map<string, number>()
const taken = new Map<string, number[]>()
let waiting = 0

const receiver = createServer(async (request, response) => {
  const [, name = ''] = request.url?.split('/') ?? []
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const nth = (calls.get(name) ?? 0) + 1
  calls.set(name, nth)
  const treatment = treatments.get(name)?.(nth) ?? 'take'
  if (treatment === 'take') take(text, response)
  else if (treatment === 'refuse') response.writeHead(500).end()
  else waiting += 1
})
const { port } = new URL(FIXTURE_RECEIVER)
await new Promise<void>((listening) => receiver.listen(Number(port), '127.0.0.1', listening))

function take(text: string, response: ServerResponse): void {
  const { correlation_id, search_response } = JSON.parse(text).message
  const page = search_response[0]?.pagination?.page_number ?? 1
  taken.set(correlation_id, [...(taken.get(correlation_id) ?? []), page])
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ message: { ack_status: 'ACK', timestamp: new Date().toISOString() } }))
}

/** From migration 0024 on nothing may be asked without a grant; before it there was no such table. */
const { rows: granting } = await db.pool.query<{ there: boolean }>(`select to_regclass('participant_grant') is not null as there`)
const GRANT_EVERYTHING = granting[0]?.there
  ? `insert into participant_grant (participant, registry, terms)
      select $1, registry.id, '{"operations": "all", "query_forms": "all", "ask": "all", "see": "all", "event_types": "all",
        "programmes": "all", "unfiltered": false, "basis": "law"}' from registry`
  : 'select $1::integer'

interface Participant {
  readonly name: string
  readonly sender_id: string
  readonly client_id: string
  readonly client_secret: string
}

async function participant(name: string): Promise<Participant> {
  const sender_id = `${name}.example`
  const added = await addParticipant(db, {
    sender_id,
    name,
    signature_policy: 'if-present',
    allow_unsigned: true,
    outgoing: [{ host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true }],
  })
  const { secret, sha256 } = newSecret()
  await addSecret(db, added, sha256)
  await db.pool.query(GRANT_EVERYTHING, [added.id])
  const url = `${FIXTURE_RECEIVER}/${name}`
  await setCallbackSettings(db, added.id, { allowed: [url], default_url: url, timeout_ms: 60_000 })
  return { name, sender_id, client_id: added.client_id, client_secret: secret }
}

/** Starts a server of the earlier commit; resolves with its address when it listens. */
async function serve(role: 'all' | 'http'): Promise<{ url: string; kill: () => Promise<void> }> {
  const { user, password, database, host } = connection
  const query = new URLSearchParams({ host, port: String(connection.port) })
  const child: ChildProcess = spawn(
    process.execPath,
    [join(worktree, 'packages/cli/src/main.ts'), 'serve', '--json', '--role', role],
    {
      env: {
        PATH: process.env.PATH,
        HOME: process.env.HOME,
        DATABASE_URL: `postgres://${user}:${password}@/${database}?${query}`,
        PORT: '0',
        ADMIN_PORT: '0',
        ROLLCALL_MASTER_KEY: FIXTURE_MASTER_KEY,
        ROLLCALL_RETRY_SCHEDULE: Array.from({ length: 60 }, () => 2).join(','),
        LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  process.once('exit', () => child.kill('SIGKILL'))
  const line = await new Promise<string>((listening) => child.stdout?.once('data', (text) => listening(`${text}`)))
  return {
    url: JSON.parse(line).url,
    kill: () =>
      new Promise((ended) => {
        child.once('close', () => ended())
        child.kill('SIGKILL')
      }),
  }
}

const acknowledged: Omit<AcknowledgedRequest, 'taken'>[] = []

const tokens = new Map<string, string>()
async function tokenOf(url: string, by: Participant): Promise<string> {
  const token = tokens.get(by.name) ?? (await askToken(`${url}/oauth2/client/token`, by)).token
  tokens.set(by.name, token)
  return token
}

const BY_IDENTIFIER = { criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: 'P-3' } }, records: 1 }
const SEVERAL_PAGES = {
  criteria: { query_type: 'idtype-value', query: { type: 'MOBILE', value: PHONE }, pagination: { page_size: 2, page_number: 1 } },
  records: RECORDS,
}

/** Sends a request on the asynchronous path, and notes that it was acknowledged. */
async function send(
  url: string,
  by: Participant,
  left: string,
  { items = [BY_IDENTIFIER], namespace = HELD, own = false } = {},
): Promise<string> {
  const now = new Date().toISOString()
  const search_request = items.map(({ criteria }, index) => ({
    reference_id: `${left}, item ${index}`,
    timestamp: now,
    search_criteria: criteria,
  }))
  const header = {
    version: '1.0.0',
    message_id: randomUUID(),
    message_ts: now,
    action: 'search',
    sender_id: by.sender_id,
    total_count: items.length,
    // Without it the answer goes to the address that the operator has entered.
    ...(!own && { sender_uri: `${FIXTURE_RECEIVER}/${by.name}/registry/on-search` }),
  }
  const answer = await fetch(`${url}/${namespace}/v1.0.0/registry/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${await tokenOf(url, by)}` },
    body: JSON.stringify({ header, message: { transaction_id: `t-${header.message_id}`, search_request } }),
  })
  const text = await answer.text()
  const { message } = JSON.parse(text)
  if (message?.ack_status !== 'ACK') throw new Error(`not acknowledged: ${text}`)
  acknowledged.push({
    correlation_id: message.correlation_id,
    left,
    reference_ids: search_request.map(({ reference_id }) => reference_id),
    records: items.reduce((sum, { records }) => sum + records, 0),
  })
  return message.correlation_id
}

/** The state of the commit's queue: before migration 0018 it was graphile-worker's. */
const { rows: queues } = await db.pool.query<{ there: boolean }>(`select to_regnamespace('graphile_worker') is not null as there`)
const queue = queues[0]?.there
  ? {
      inWork: 'select count(*) from graphile_worker._private_jobs where locked_by is not null',
      failed: 'select count(*) from graphile_worker._private_jobs where last_error is not null and locked_by is null',
    }
  : {
      inWork: 'select count(*) from accepted_exchange where claim is not null',
      failed: `select count(*) from accepted_exchange where claim is null and runs > 0 and state = 'accepted'`,
    }

/** Waits until a condition of the database, as SQL, holds. */
async function until(condition: string, values: readonly unknown[] = []): Promise<void> {
  for (const end = Date.now() + 30_000; Date.now() < end; await sleep(20)) {
    const { rows } = await db.pool.query<{ holds: boolean }>(`select (${condition}) as holds`, [...values])
    if (rows[0]?.holds === true) return
  }
  throw new Error(`never so: ${condition}`)
}

const by = {
  answered: await participant('answered'),
  failing: await participant('failing'),
  paused: await participant('paused'),
  draining: await participant('draining'),
}
treatments.set('failing', () => 'refuse')
treatments.set('paused', () => 'refuse')
// Three attempts fail; of those that follow the first is taken, and the others are not answered.
treatments.set('draining', (nth) => (nth <= 3 ? 'refuse' : nth === 4 ? 'take' : 'keep waiting'))

const server = await serve('all')
await send(server.url, by.answered, 'answered')
await send(server.url, by.answered, 'answered in pages', { items: [SEVERAL_PAGES] })
await until("(select count(*) from delivery where state = 'delivered') = 4")

for (let n = 0; n < 3; n += 1) await send(server.url, by.draining, 'in a drain that is half done', { own: n === 2 })
for (let n = 0; n < 2; n += 1) await send(server.url, by.failing, 'with a pending delivery', { own: n === 1 })
for (let n = 0; n < 6; n += 1) await send(server.url, by.paused, 'behind an open breaker')
await until('(select count(*) from breaker where opened_at is not null) >= 1')
for (const end = Date.now() + 30_000; waiting === 0; await sleep(20)) {
  if (Date.now() > end) throw new Error('no drain is half done')
}

// Searches of this registry wait from now on, until the server is killed.
const lock = new pg.Client(connection)
await lock.connect()
await lock.query('begin; lock table r1_person in access exclusive mode')
for (const items of [[BY_IDENTIFIER], [BY_IDENTIFIER, SEVERAL_PAGES, BY_IDENTIFIER], [SEVERAL_PAGES]]) {
  await send(server.url, by.answered, 'while it was answered', { items })
}
await until(`(${queue.inWork}) >= 3`)

await db.pool.query('alter table r2_person rename to away')
for (let n = 0; n < 2; n += 1) await send(server.url, by.answered, 'after a job that failed', { namespace: BROKEN })
await until(`(${queue.failed}) = 2`)
await server.kill()
await db.pool.query('alter table away rename to r2_person')

const accepting = await serve('http')
await send(accepting.url, by.answered, 'with a job that nobody took')
await send(accepting.url, by.failing, 'with a job that nobody took', { items: [BY_IDENTIFIER, SEVERAL_PAGES] })
await accepting.kill()
await lock.query('rollback')
await lock.end()
await db.close()

// Nobody else is connected now: what the killed servers had begun is over.
const client = new pg.Client(connection)
await client.connect()
for (let others = 1; others > 0; ) {
  await sleep(100)
  const { rows } = await client.query<{ others: number }>(
    'select count(*)::int as others from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()',
  )
  others = rows[0]?.others ?? 0
}
const head = `-- A database made by packages/cli/test/upgrade/make.ts with the code of commit ${commit}. Never edited.\n`
await writeFile(fixtureFile(commit, 'sql'), head + (await dumpDatabase(client)))
const requests = acknowledged.map((request) => ({ ...request, taken: taken.get(request.correlation_id) ?? [] }))
await writeFile(fixtureFile(commit, 'json'), `${JSON.stringify(requests, null, 2)}\n`)
await client.end()
await postgres.close()
receiver.closeAllConnections()
receiver.close()
await rm(directory, { recursive: true, force: true, maxRetries: 5 })
