/** The server as deploy/ starts it: secrets in files, a root that nobody writes to, a proxy that terminates TLS. */
import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { request as httpRequest } from 'node:http'
import { createServer, request as httpsRequest, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { programOrSkip } from '../../../test/programs.ts'
import { loopbackCertificate, loopbackKey } from '../../admin/test/loopback-certificate.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { databaseUrl, type Ended, type Running, rollcall, rollcallJson, start, until } from './command.ts'
import { startNginx } from './nginx.ts'

const BIN = fileURLToPath(new URL('../bin/rollcall.mjs', import.meta.url))
/** The address of a peer's system, as the proxy sees it. */
const CLIENT = '203.0.113.7'

let folder: string
let drop: () => Promise<void>
let secrets: Record<string, string>
let running: Running
let proxy: Server
let address: string
/** The port of the listener for peers. */
let port = 0
/** Asks a signed search under an address of the server. */
let ask: (url: string) => Promise<Ended>

/** As a proxy does: TLS ends here, and what a peer says of its address does not count. */
function terminateTls(port: () => number): Server {
  return createServer({ key: loopbackKey, cert: loopbackCertificate }, (request, response) => {
    const { method, url, headers } = request
    const forwarded = { ...headers, 'x-forwarded-for': CLIENT, 'x-forwarded-proto': 'https' }
    const passed = httpRequest({ host: '127.0.0.1', port: port(), method, path: url, headers: forwarded })
    passed.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    passed.on('error', () => response.writeHead(502).end())
    request.pipe(passed)
  })
}

/** Null while nobody answers. */
const statusOf = (url: string): Promise<number | null> =>
  new Promise((resolve) => {
    const asked = httpsRequest(url, { ca: loopbackCertificate }, (answer) => {
      answer.resume()
      resolve(answer.statusCode ?? null)
    })
    asked.on('error', () => resolve(null)).end()
  })

const post = (url: string, headers: Record<string, string>, body: string): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const whole = { ...headers, 'content-type': 'application/json', 'rollcall-partner': '1' }
    httpsRequest(url, { method: 'POST', ca: loopbackCertificate, headers: whole }, (answer) => {
      answer.resume()
      resolve(answer.statusCode)
    })
      .on('error', reject)
      .end(body)
  })

const file = async (name: string, text: string): Promise<string> => {
  const path = join(folder, name)
  await writeFile(path, text, { mode: 0o600 })
  return path
}

interface Line {
  readonly msg: string
  readonly [member: string]: unknown
}

const logged = (): readonly Line[] =>
  running
    .output()
    .stderr.split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-production-'))
  const empty = await emptyDatabase()
  drop = empty.drop
  secrets = {
    ROLLCALL_MASTER_KEY: '',
    DATABASE_URL_FILE: await file('database-url', `${databaseUrl(empty.connection)}\n`),
    ROLLCALL_MASTER_KEY_FILE: await file('master-key', 'ab'.repeat(32)),
  }
  proxy = terminateTls(() => port)
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  address = `https://127.0.0.1:${(proxy.address() as AddressInfo).port}`

  const { PATH = '' } = process.env
  await promisify(execFile)(process.execPath, [BIN, 'migrate'], { env: { PATH, ...secrets } })
  running = start(['serve', '--json'], {
    ...secrets,
    // It may read every file and write none, and starts threads and no processes.
    NODE_OPTIONS: '--permission --allow-fs-read=* --allow-worker',
    ROLLCALL_BEHIND_TLS_PROXY: '1',
    ROLLCALL_PROXIES: '127.0.0.1',
    ROLLCALL_PARTNER_PAGE: '1',
    ROLLCALL_PUBLIC_URL: address,
    ROLLCALL_DATA: join(folder, 'never-made'),
  })
  const listening = await until(running, () => logged().find(({ msg }) => msg === 'listening') ?? null)
  port = Number(listening.port)
  await until(running, () => (running.output().stdout.includes('\n') ? true : null))
})

afterAll(async () => {
  proxy?.close()
  await running?.stop()
  await drop?.()
  await rm(folder, { recursive: true })
})

it('answers a signed search through the proxy, and writes no file', async () => {
  expect(JSON.parse(running.output().stdout)).toMatchObject({ role: 'all', url: address })
  await rollcallJson(['registry', 'add', 'civil', '--sender-id', 'civil.example'], secrets)
  const people = join(folder, 'people.ndjson')
  await rollcall(['generate', 'civil', '--count', '10', '--seed', '1', '--out', people], secrets)
  await rollcallJson(['import', 'civil', people], secrets)
  const participant = await rollcallJson(['participant', 'add', 'sp.example', '--name', 'SP'], secrets)
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const pem = await file('public.pem', publicKey.export({ type: 'spki', format: 'pem' }).toString())
  const key = await file('private.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  await rollcallJson(['participant', 'key', 'add', 'sp.example', pem, '--kid', 'sig-1'], secrets)
  await rollcallJson(['grant', 'set', 'sp.example', 'civil', '--template', 'everything'], secrets)

  const client = ['--client-id', participant.client_id]
  const secret = ['--client-secret-file', await file('secret', participant.client_secret)]
  const authority = { NODE_EXTRA_CA_CERTS: await file('ca.pem', loopbackCertificate) }
  ask = (url) =>
    rollcall(
      [
        ...['search', '--url', `${url}/civil/v1.0.0`, '--sender-id', 'sp.example', ...client, ...secret],
        ...['--sign-key', key, '--sign-kid', 'sig-1', '--where', '{"age": {"$gte": 0}}', '--json'],
      ],
      authority,
    )
  const asked = await ask(address)
  expect(asked).toMatchObject({ code: 0 })
  expect(asked.stdout).toContain('birth_date')

  const lines = await until(running, () => {
    const found = logged().filter(({ msg, operation }) => msg === 'request answered' && operation === 'search')
    return found.length > 0 ? found : null
  })
  expect(lines).toEqual([
    expect.objectContaining({ participant: 'sp.example', registry: 'civil', address: CLIENT, outcome: 'done' }),
  ])
  expect(running.output().stderr).not.toMatch(/ERR_ACCESS_DENIED|"level":"error"/)
})

it('answers a signed search through nginx with the file of deploy/', async (context) => {
  const nginx = await startNginx(programOrSkip(context, 'nginx'), folder, port)
  onTestFinished(async () => {
    await nginx.stop()
  })
  await expect.poll(() => statusOf(`${nginx.url}/ready`)).toBe(200)
  expect(await ask(nginx.url)).toMatchObject({ code: 0, stdout: expect.stringContaining('birth_date') })
  // Whatever a peer says of its address, nginx tells its own.
  const searches = logged().filter(({ msg, operation }) => msg === 'request answered' && operation === 'search')
  expect(searches.at(-1)).toMatchObject({ address: '127.0.0.1', outcome: 'done' })

  // A page is of the address with its port.
  const { url } = await rollcallJson(['participant', 'link', 'sp.example'], { ...secrets, ROLLCALL_PUBLIC_URL: nginx.url })
  const body = JSON.stringify({ code: new URL(url).hash.slice(1) })
  const signIn = (origin: string) => post(`${nginx.url}/partner/api/session`, { origin }, body)
  expect(await signIn('https://127.0.0.1')).toBe(403)
  expect(await signIn(nginx.url)).toBe(201)
})

it('says over TLS what it is, and doctor agrees with its settings', async () => {
  const { code, stdout } = await rollcall(['doctor', '--json'], {
    ...secrets,
    HOST: '0.0.0.0',
    ROLLCALL_BEHIND_TLS_PROXY: '1',
    ROLLCALL_PUBLIC_URL: 'https://registry.example.org',
  })
  const findings: readonly { check: string; status: string }[] = JSON.parse(stdout)
  expect([code, findings.filter(({ status }) => status === 'broken')]).toEqual([0, []])
})
