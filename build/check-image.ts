/**
 * Builds the image of deploy/Dockerfile and starts it, without a container engine and without a registry of images:
 *
 *   npm run check:image
 *
 * It needs root on Debian with `buildah` and `debootstrap`, and says so where it cannot run. The base of the image is made here,
 * of Debian, of the npm package of Node and of the npm that runs it. The database is the embedded PostgreSQL of this clone. It
 * fails when anything stays.
 */
import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { generateKeyPairSync, randomBytes } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { openEmbeddedPostgres } from '@rollcall/database/embedded/postgres'
import { useRunFolder } from '../test/run-folder.ts'
import { root } from './compile.ts'
import { lacking, makeDebian, NEEDED } from './debian-base.ts'

const say = (...words: string[]): void =>
  void process.stdout.write(`image, ${Math.round(process.uptime())} s: ${words.join(' ')}\n`)

const missing = lacking([...NEEDED, ['buildah', '--version']])
if (missing.length > 0) {
  say('skipped: it needs root on Debian, and these fail here:', missing.join(', '))
  process.exit(0)
}

const [BASE, IMAGE] = ['localhost/rollcall-check-base', 'localhost/rollcall-check']
/** The user of the image. */
const USER = 1_000

// The run folder is on the disk: the images are too large for a folder in memory.
useRunFolder('/var/tmp')
const folder = mkdtempSync(join(tmpdir(), 'image-'))
// buildah leaves files of a container that is killed.
process.env.TMPDIR = folder
/** buildah keeps this one outside of its store. */
const CACHE = '/var/lib/containers'
const hadCache = existsSync(CACHE)
// These signals end the process by `exit`, so that its exit handlers run.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))
/** The folder that the image shares with this script. */
const shared = join(folder, 'shared')

const run = (program: string, ...words: string[]): string =>
  execFileSync(program, words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'], maxBuffer: 2 ** 28 })

/** The driver that works without rights of a kernel, and a store that goes with the folder. */
const buildah = (...words: string[]): string => run('buildah', ...STORE, ...words).trim()
const STORE = [`--root=${folder}/images`, `--runroot=${folder}/run`, '--storage-driver=vfs']

/** Makes a base image, used in place of Node's image from a registry. */
function makeBase(): void {
  const base = join(folder, 'base')
  makeDebian(base)
  const local = join(base, 'usr/local')
  cpSync(realpathSync(process.execPath), join(local, 'bin/node'))
  const npm = realpathSync(process.env.npm_execpath ?? '')
  cpSync(dirname(dirname(npm)), join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true })
  symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
  // Its packages come from where this machine's npm gets them.
  const settings = [`registry=${run('npm', 'config', 'get', 'registry')}`]
  // npm prints null for a setting that is not there.
  const authorities = [run('npm', 'config', 'get', 'cafile').trim(), process.env.NODE_EXTRA_CA_CERTS ?? ''].find(existsSync)
  if (authorities !== undefined) {
    cpSync(authorities, join(local, 'etc/npm-authorities.pem'), { dereference: true })
    settings.push('cafile=/usr/local/etc/npm-authorities.pem\n')
  }
  mkdirSync(join(local, 'etc'), { recursive: true })
  writeFileSync(join(local, 'etc/npmrc'), settings.join(''))
  const container = buildah('from', 'scratch')
  buildah('add', '--quiet', container, base, '/')
  buildah('commit', '--quiet', container, BASE)
  buildah('rm', container)
  rmSync(base, { recursive: true })
}

function buildImage(): void {
  const file = join(root, 'deploy/Dockerfile')
  buildah(
    ...['build', '--quiet', '--format=docker', '--isolation=chroot', '--pull=never', `--build-arg=NODE_IMAGE=${BASE}`],
    ...[`--ignorefile=${file}.dockerignore`, `--file=${file}`, `--tag=${IMAGE}`, root],
  )
}

/** The members that are read of what `buildah inspect` prints. */
interface Inspected {
  readonly OCIv1: { readonly config: { readonly Entrypoint: readonly string[] } }
}

interface Container {
  /** Runs a command of the image to its end, and gives what it printed. */
  rollcall(...words: string[]): string
  /** Starts the server. Gives its first line, and what ends it. */
  serve(): Promise<{ readonly url: string; readonly admin_url: string; stop(): void }>
}

function containerOf(environment: Readonly<Record<string, string>>): Container {
  const container = buildah('from', '--pull=never', IMAGE)
  const { OCIv1 } = JSON.parse(buildah('inspect', container)) as Inspected
  const entry = OCIv1.config.Entrypoint
  const variables = Object.entries(environment).map(([name, value]) => `--env=${name}=${value}`)
  const prefix = [
    ...['run', '--isolation=chroot', `--volume=${folder}/postgres:${folder}/postgres`],
    ...[`--volume=${shared}:${shared}`, `--workingdir=${shared}`, ...variables, container, '--', ...entry],
  ]
  return {
    rollcall: (...words) => buildah(...prefix, ...words),
    async serve() {
      const stdio = ['ignore', 'pipe', 'inherit'] as const
      const server = spawn('buildah', [...STORE, ...prefix, 'serve', '--no-migrate', '--json'], {
        stdio: [...stdio],
        detached: true,
      })
      for await (const line of createInterface(server.stdout)) {
        return { ...JSON.parse(line), stop: () => process.kill(-(server.pid ?? 0), 'SIGKILL') }
      }
      throw new Error('the server of the image ended before it listened')
    },
  }
}

const textOf = async (address: string): Promise<string> => {
  const answer = await fetch(address)
  assert.equal(answer.status, 200, address)
  return answer.text()
}

async function useImage({ rollcall, serve }: Container): Promise<void> {
  say('the migration:', rollcall('migrate').split('\n')[0] ?? '')
  rollcall('registry', 'add', 'civil', '--sender-id', 'civil.example')
  rollcall('generate', 'civil', '--count', '10', '--seed', '1', '--out', 'people.ndjson')
  rollcall('import', 'civil', 'people.ndjson')
  const added = rollcall('participant', 'add', 'sp.example', '--name', 'SP', '--json')
  const { client_id, client_secret } = JSON.parse(added) as Record<string, string>
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  write('public.pem', publicKey.export({ type: 'spki', format: 'pem' }).toString())
  write('private.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())
  write('secret', client_secret ?? '')
  rollcall('participant', 'key', 'add', 'sp.example', 'public.pem', '--kid', 'sig-1')
  rollcall('grant', 'set', 'sp.example', 'civil', '--template', 'everything')
  const { url, admin_url, stop } = await serve()
  try {
    say('health:', await textOf(`${admin_url}/health`))
    const page = await textOf(admin_url)
    const [, script = ''] = /<script [^>]*src="([^"]+\.js)"/.exec(page) ?? []
    assert(script !== '', 'the page of the console is not built')
    say('the console:', `${(await textOf(new URL(script, admin_url).href)).length} characters of ${script}`)
    const found = rollcall(
      ...['search', '--url', `${url}/civil/v1.0.0`, '--sender-id', 'sp.example'],
      ...['--client-id', client_id ?? '', '--client-secret-file', 'secret'],
      ...['--sign-key', 'private.pem', '--sign-kid', 'sig-1', '--where', '{"age": {"$gte": 0}}', '--json'],
    )
    assert(found.includes('birth_date'), 'the signed search found nobody')
    say('a signed search:', `${found.length} characters`)
  } finally {
    stop()
  }
}

function write(name: string, text: string): void {
  const path = join(shared, name)
  writeFileSync(path, text, { mode: 0o600 })
  chownSync(path, USER, USER)
}

async function check(): Promise<void> {
  chmodSync(folder, 0o711)
  mkdirSync(shared)
  chownSync(shared, USER, USER)
  say('making the base')
  makeBase()
  say('building the image')
  buildImage()
  const postgres = await openEmbeddedPostgres(folder)
  try {
    // Its socket is for one user: here the user of the image needs it too.
    const { host = '', port } = postgres.connection
    for (const path of [join(folder, 'postgres'), host]) chmodSync(path, 0o711)
    chmodSync(join(host, `.s.PGSQL.${port}`), 0o777)
    const [owner, application] = [postgres.connection, postgres.application].map(
      ({ user, password, host, port, database }) =>
        `postgres://${user}:${password}@/${database}?host=${encodeURIComponent(host ?? '')}&port=${port}`,
    )
    await useImage(
      containerOf({
        DATABASE_URL: application ?? '',
        ROLLCALL_OWNER_DATABASE_URL: owner ?? '',
        ROLLCALL_MASTER_KEY: randomBytes(32).toString('base64'),
        PORT: '0',
        ADMIN_PORT: '0',
      }),
    )
    say('everything answers')
  } finally {
    await postgres.close()
  }
}

try {
  await check()
} finally {
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  if (!hadCache) rmSync(CACHE, { recursive: true, force: true })
}
