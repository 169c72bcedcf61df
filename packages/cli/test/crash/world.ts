/** A registry on a PostgreSQL of its own, a participant whose answers are counted, and nodes as real processes. */
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import type { Participant } from '@rollcall/core/model/participant'
import { type Database, migrate, openDatabase } from '@rollcall/database/database'
import type { EmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { importFile } from '@rollcall/import/import-file'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { addSecret } from '@rollcall/participants/store/client-secrets'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { addParticipant } from '@rollcall/participants/store/participants'
import { addRegistry } from '@rollcall/records/registries/registries'
import { copyCluster } from '../../../database/test/embedded.ts'
import type { TestServer } from '../../../database/test/global-setup.ts'
import { grantEverything } from '../../../participants/test/grants.ts'
import { databaseUrl, printed, type Running, start } from '../command.ts'
import { type CountingReceiver, countingReceiver } from './receiver.ts'

/** Records that the shared phone number finds, and how many are asked for at a time. */
export const SHARED = { phone: '+1 555 0100', records: 5, page_size: 2, pages: 3 } as const

const person = (index: number) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: `P-${index}` }],
  name: { given_name: `Given ${index}` },
  phone_number: [SHARED.phone],
})

export interface Node {
  readonly running: Running
  /** Empty for a worker. */
  readonly url: string
  readonly adminUrl: string
}

/** A participant that asks. */
export interface Asker {
  readonly participant: Participant
  readonly secret: string
}

export interface World {
  readonly db: Database
  readonly connection: TestServer
  /** Several, so that what one of them waits for is not done by the way when there is something for another. */
  readonly askers: readonly Asker[]
  readonly receiver: CountingReceiver
  /** The data directory of PostgreSQL. */
  readonly dataDirectory: string
  /** The environment of a node. */
  readonly env: Readonly<Record<string, string>>
  /** Starts a node and waits until it listens. */
  node(role?: 'http' | 'worker' | 'all', env?: Readonly<Record<string, string>>, main?: string): Promise<Node>
  /** Kills every node that was started. */
  killNodes(): Promise<void>
  close(): Promise<void>
}

/** A short schedule with many steps: nothing may be given up because a receiver was moody. */
const SCHEDULE = Array.from({ length: 60 }, (_, step) => (step < 3 ? 0.2 : 1)).join(',')

export async function crashWorld(): Promise<World> {
  const directory = await mkdtemp(join(tmpdir(), 'rollcall-crash-'))
  await chmod(directory, 0o711)
  await copyCluster(directory)
  const postgres: EmbeddedPostgres = await openEmbeddedPostgres(directory)
  const connection = postgres.connection as TestServer
  const db = openDatabase(connection)
  const receiver = await countingReceiver()
  await migrate(db)
  const askers = await fill(db, receiver.url)
  const nodes: Node[] = []
  const killNodes = async (): Promise<void> => {
    await Promise.all(nodes.splice(0).map(({ running }) => running.stop('SIGKILL')))
  }
  const all = { DATABASE_URL: databaseUrl(connection), ADMIN_PORT: '0', LOG_LEVEL: 'warn', ROLLCALL_RETRY_SCHEDULE: SCHEDULE }
  return {
    db,
    connection,
    askers,
    receiver,
    dataDirectory: directory,
    env: all,
    async node(role = 'all', env = {}, main) {
      const running = start(['serve', '--json', '--role', role], { ...all, ...env }, main)
      const [line] = await printed(running, /^.*\n/)
      const { url, admin_url } = JSON.parse(line) as { url: string | null; admin_url: string }
      const node = { running, url: url ?? '', adminUrl: admin_url }
      nodes.push(node)
      return node
    },
    killNodes,
    async close() {
      await killNodes()
      await receiver.close()
      await db.close()
      await postgres.close()
      await rm(directory, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

async function fill(db: Database, url: string): Promise<readonly Asker[]> {
  const registry = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  const lines = Array.from({ length: SHARED.records }, (_, index) => `${JSON.stringify(person(index))}\n`)
  const { written } = await importFile(db, registry, Readable.from(lines.map((line) => Buffer.from(line))), {
    format: 'ndjson',
    rejectsPath: null,
  })
  if (written !== SHARED.records) throw new Error(`only ${written} records were written`)
  return Promise.all(Array.from({ length: ASKERS }, (_, index) => addAsker(db, `spmis-${index}.example`, url)))
}

const ASKERS = 12

async function addAsker(db: Database, sender_id: string, url: string): Promise<Asker> {
  const participant = await addParticipant(db, {
    sender_id,
    name: sender_id,
    signature_policy: 'if-present',
    allow_unsigned: true,
    rate_limit: Infinity,
    concurrency_limit: Infinity,
    outgoing: [{ host: '127.0.0.1', ports: 'any', plainHttp: true, loopback: true }],
  })
  await grantEverything({ db }, { unfiltered: true })
  const { secret, sha256 } = newSecret()
  await addSecret(db, participant, sha256)
  await setCallbackSettings(db, participant.id, { allowed: [url], concurrency: 32, rate: 10_000, timeout_ms: 10_000 })
  return { participant, secret }
}
