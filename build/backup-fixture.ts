/**
 * Makes a small backup with the code of a checkout, for the test that restores backups of earlier versions
 * (packages/cli/test/restore). It uses the command of that checkout alone, and needs no network.
 *
 *   npx node build/backup-fixture.ts <name> <checkout>
 */
import { execFile, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

export const BACKUP_FIXTURES = join(import.meta.dirname, '../packages/cli/test/restore/fixtures')

/** The master key of the backup fixtures. It is used for nothing else. */
export const BACKUP_MASTER_KEY = Buffer.alloc(32, 'restore').toString('base64')

const PARTICIPANT = 'spmis.example'
/** A port at which nobody listens: every attempt fails, and what is sent waits. */
const NOBODY = 'http://127.0.0.1:9'
const GRANT = {
  operations: 'all',
  query_forms: 'all',
  ask: 'all',
  see: 'all',
  event_types: 'all',
  programmes: 'all',
  unfiltered: false,
  basis: 'law',
}
const person = (uin: string, surname: string) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { surname },
})

/** The command of a checkout. */
export const commandOf = (checkout: string): string => join(resolve(checkout), 'packages/cli/src/main.ts')

/** Runs a command, which must succeed, with this environment and nothing else. @returns its standard output */
type RunCommand = (words: readonly string[], env: Readonly<Record<string, string>>, input: string) => Promise<string>

const runOf =
  (main: string): RunCommand =>
  async (words, env, input) => {
    const running = promisify(execFile)(process.execPath, [main, ...words], { env })
    running.child.stdin?.end(input)
    return (await running).stdout
  }

/**
 * @param main the path of the command that makes it
 * @param file must not be there yet
 * @param run runs the command, in another way than by starting it
 */
export async function writeBackupFixture(main: string, file: string, run: RunCommand = runOf(main)): Promise<void> {
  const data = mkdtempSync(join(tmpdir(), 'rollcall-fixture-'))
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: process.env.HOME ?? '',
    TMPDIR: tmpdir(),
    PORT: '0',
    ADMIN_PORT: '0',
    LOG_LEVEL: 'error',
    ROLLCALL_DRAIN_TIME: '0',
    ROLLCALL_DATA: join(data, 'data'),
    ROLLCALL_MASTER_KEY: BACKUP_MASTER_KEY,
    ROLLCALL_RETRY_SCHEDULE: Array.from({ length: 100 }, () => '1').join(','),
  }
  const rollcall = (words: string, input: unknown = ''): Promise<string> =>
    run(words.split(' '), env, typeof input === 'string' ? input : JSON.stringify(input))
  const server = spawn(process.execPath, [main, 'serve', '--json'], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  try {
    const [line] = await once(server.stdout, 'data')
    const { url } = JSON.parse(String(line)) as { readonly url: string }
    await rollcall('registry add civil --sender-id civil.example')
    await rollcall('import civil - --format ndjson', person('P-1', 'Okoro'))
    const added = JSON.parse(await rollcall(`participant add ${PARTICIPANT} --name SPMIS --json`)) as Credentials
    await rollcall(`participant policy ${PARTICIPANT} --signature if-present --allow-unsigned`)
    await rollcall(`participant host allow ${PARTICIPANT} 127.0.0.1 --port any --plain-http --loopback`)
    await rollcall(`participant callback ${PARTICIPANT} --default-url ${NOBODY} --notify-url ${NOBODY}`)
    await rollcall(`grant set ${PARTICIPANT} civil --file -`, GRANT)
    const ask = await asking(url, added)
    await ask('subscribe', SUBSCRIBE)
    await ask('search', SEARCH)
    for (let failed = 0; failed < 2; ) {
      const deliveries = JSON.parse(await rollcall('deliveries list --json')) as { readonly attempts: number }[]
      failed = deliveries.filter(({ attempts }) => attempts > 0).length
      await sleep(100)
    }
    await rollcall('publish civil --event LiveBirth --record -', person('P-2', 'Adeyemi'))
    await rollcall(`backup ${file}`)
  } finally {
    server.kill()
    await once(server, 'exit')
    rmSync(data, { recursive: true, force: true, maxRetries: 5 })
  }
}

interface Credentials {
  readonly client_id: string
  readonly client_secret: string
}

const TYPES = { reg_type: 'ns:org:RegistryType:Civil', reg_record_type: 'CRVS_Person' }
const SEARCH = { search_criteria: { ...TYPES, query_type: 'idtype-value', query: { type: 'UIN', value: 'P-1' } } }
const SUBSCRIBE = {
  subscribe_criteria: {
    reg_type: TYPES.reg_type,
    reg_event_type: 'LiveBirth',
    notify_record_type: TYPES.reg_record_type,
    filter_type: 'idtype-value',
    filter: { type: 'UIN', value: 'P-2' },
  },
}

/** Sends requests as the participant; each must be acknowledged. */
async function asking(url: string, { client_id, client_secret }: Credentials) {
  const body = new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret })
  const answer = await fetch(`${url}/oauth2/client/token`, { method: 'POST', body })
  const { access_token } = (await answer.json()) as { readonly access_token: string }
  return async (action: 'search' | 'subscribe', item: object): Promise<void> => {
    const now = new Date().toISOString()
    const header = {
      version: '1.0.0',
      message_id: randomUUID(),
      message_ts: now,
      action,
      sender_id: PARTICIPANT,
      receiver_id: 'civil.example',
      total_count: 1,
    }
    const items = [{ reference_id: action, timestamp: now, ...item }]
    const sent = await fetch(`${url}/civil/v1.0.0/registry/${action}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${access_token}` },
      body: JSON.stringify({ header, message: { transaction_id: header.message_id, [`${action}_request`]: items } }),
    })
    const text = await sent.text()
    if (!text.includes('"ACK"')) throw new Error(`${action} was not acknowledged: ${text}`)
  }
}

if (import.meta.main) {
  const [name, checkout] = process.argv.slice(2)
  if (checkout === undefined) throw new Error('backup-fixture.ts <name> <checkout>')
  const file = join(BACKUP_FIXTURES, `${name}.backup`)
  if (existsSync(file)) throw new Error(`${file} is there already: a fixture is never changed`)
  await writeBackupFixture(commandOf(checkout), file)
}
