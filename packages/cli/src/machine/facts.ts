/** Reads the state of this machine for `rollcall setup`. Only `runAsSuperuser` can change something: acts.ts uses it. */
import { execFileSync, spawnSync } from 'node:child_process'
import { lookup } from 'node:dns/promises'
import { existsSync, readFileSync, readlinkSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import type { Answers } from './answers.ts'
import { certificateProblem } from './certificate.ts'
import { ANSWERS_FILE, CERTBOT_NGINX_SITE, CERTIFICATE_PATH_UNIT, SETUP_SETTINGS_FILE } from './files.ts'
import {
  CODE_FOLDER,
  COPY_KEY_FILE,
  JOURNAL_FILE,
  NGINX_SITE,
  ROLLCALL_COMMAND_PATH,
  SECRET_FILES,
  SETTINGS_FOLDER,
  UNIT_FOLDER,
} from './places.ts'
import { APPLICATION_ROLE, DATABASE_NAME, OWNER_ROLE, type SetupFacts } from './plan.ts'

const TRUSTED_AUTHORITIES_FILE = '/etc/ssl/certs/ca-certificates.crt'

/** The text of a file; null when it cannot be read. */
export const findFileText = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return null
  }
}

/**
 * Runs SQL as the superuser of this machine's PostgreSQL. The SQL goes through standard input, so that no process list shows it.
 */
export const runAsSuperuser = (sql: string, database = 'postgres'): string =>
  execFileSync(
    'runuser',
    ['--user', 'postgres', '--', 'psql', '--no-psqlrc', '--quiet', '-tA', '-v', 'ON_ERROR_STOP=1', '-d', database],
    { cwd: '/', input: sql, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] },
  ).trim()

const runsSuccessfully = (program: string, ...words: string[]): boolean =>
  spawnSync(program, words, { stdio: 'ignore' }).status === 0

/** The port of the node in use, which the link `current` names. */
export const portOfNodeInUse = (): number => Number(readlinkSync(`${CODE_FOLDER}/current`).replace('node-', ''))

/** Reads the package's example of an nginx site. */
export const readNginxSiteTemplate = (): string =>
  readFileSync(`${CODE_FOLDER}/package/node_modules/rollcall/deploy/nginx/rollcall.conf`, 'utf8')

/** Reads what `rollcall setup` compares with the answers: files, units, secrets, the database and the certificate. */
export function readSetupFacts(answers: Answers): SetupFacts {
  const port = portOfNodeInUse()
  const paths = [
    ...[ANSWERS_FILE, SETUP_SETTINGS_FILE, NGINX_SITE, CERTBOT_NGINX_SITE],
    ...[CERTIFICATE_PATH_UNIT, CERTIFICATE_PATH_UNIT.replace('.path', '.service')].map((unit) => `${UNIT_FOLDER}/${unit}`),
  ]
  const files = new Map(paths.flatMap((path) => [[path, findFileText(path)] as const]).filter(hasText))
  const database = readDatabaseFacts()
  const secrets = new Set(Object.values(SECRET_FILES).filter((path) => existsSync(path)))
  const units = [
    ...[
      `rollcall@${port}`,
      'rollcall-prune.timer',
      'rollcall-backup.timer',
      'rollcall-doctor.timer',
      'rollcall-copy.timer',
      CERTIFICATE_PATH_UNIT,
    ],
  ].filter((unit) => runsSuccessfully('systemctl', 'is-enabled', unit) && runsSuccessfully('systemctl', 'is-active', unit))
  const has_tables = database.exists && secrets.size === Object.keys(SECRET_FILES).length
  return {
    files,
    site: files.get(NGINX_SITE) ?? readNginxSiteTemplate(),
    secrets,
    database,
    certificate: readCertificateProblem(answers),
    has_certificate: existsSync(answers.certificate_file),
    has_request: existsSync(`${SETTINGS_FOLDER}/tls.csr`),
    units: new Set(units),
    has_journal: existsSync(JOURNAL_FILE),
    has_copy_key: existsSync(COPY_KEY_FILE),
    port,
    registries: has_tables ? listNamesFromCommand('registry', 'namespace') : [],
    operators: has_tables ? listNamesFromCommand('operator', 'name') : [],
  }
}

const hasText = (row: readonly [string, string | null]): row is readonly [string, string] => row[1] !== null

function readDatabaseFacts(): SetupFacts['database'] {
  const [port = '5432', roles = '', exists = 'f'] = runAsSuperuser(
    `select current_setting('port'), (select string_agg(rolname, ',') from pg_roles where rolname in ('${OWNER_ROLE}', '${APPLICATION_ROLE}')),
       exists (select from pg_database where datname = '${DATABASE_NAME}')`,
  ).split('|')
  const has_table = exists === 't' && runAsSuperuser(`select to_regclass('public.own_key') is not null`, DATABASE_NAME) === 't'
  const has_keys = has_table && runAsSuperuser('select exists (select from own_key)', DATABASE_NAME) === 't'
  return { port: Number(port), roles: roles.split(',').filter(Boolean), exists: exists === 't', has_keys }
}

/** Lists the names that `rollcall registry list` or `operator list` prints; none if the command fails, as before a migration. */
function listNamesFromCommand(subject: string, member: string): readonly string[] {
  const { status, stdout } = spawnSync(ROLLCALL_COMMAND_PATH, [subject, 'list', '--json'], { encoding: 'utf8' })
  if (status !== 0) return []
  const rows = JSON.parse(stdout) as readonly Readonly<Record<string, string>>[]
  return rows.map((row) => row[member] ?? '')
}

/** Reads the files of the certificate, and names its first fault; null when it has none. */
export function readCertificateProblem({ certificate_file, key_file, authority_file, name }: Answers): string | null {
  const [chain, key] = [findFileText(certificate_file), findFileText(key_file)]
  if (chain === null) return `${certificate_file} is not there`
  if (key === null) return `${key_file} is not there`
  const own = authority_file === '' ? '' : findFileText(authority_file)
  if (own === null) return `${authority_file} is not there`
  const authorities = `${findFileText(TRUSTED_AUTHORITIES_FILE) ?? ''}\n${own}`
  return certificateProblem({ chain, key, name, authorities, now: Date.now() })
}

export interface SetupFinding {
  readonly check: string
  readonly state: 'ok' | 'weak' | 'broken'
  readonly advice: string
}

/** Checks programs, the public name, the clock and ports before setup writes anything. A `broken` finding stops the setup. */
export async function checkBeforeSetup({ name, certificate, copies }: Answers): Promise<readonly SetupFinding[]> {
  const found: SetupFinding[] = []
  const add = (check: string, state: SetupFinding['state'], advice: string): void => void found.push({ check, state, advice })
  if (existsSync('/usr/sbin/nginx')) add('nginx', 'ok', 'it is installed')
  else add('nginx', 'broken', 'it is not installed: apt-get install nginx')
  try {
    runAsSuperuser('select 1')
    add('postgresql', 'ok', 'it answers')
  } catch {
    add('postgresql', 'broken', 'it does not answer on this machine: apt-get install postgresql')
  }
  if (certificate === 'certbot' && !runsSuccessfully('certbot', '--version')) {
    add('certbot', 'broken', 'it is not installed: apt-get install certbot')
  }
  if (copies !== 'later' && !(runsSuccessfully('rsync', '--version') && runsSuccessfully('ssh', '-V'))) {
    add('copies', 'broken', 'the programs that copy are not installed: apt-get install rsync openssh-client')
  }
  found.push(await checkPublicName(name), checkClock(), ...checkPorts(certificate === 'certbot'))
  return found
}

async function checkPublicName(name: string): Promise<SetupFinding> {
  const check = 'name'
  const found = await lookup(name, { all: true }).catch(() => [])
  if (found.length === 0) return { check, state: 'broken', advice: `${name} leads nowhere: add it to your DNS` }
  const own = Object.values(networkInterfaces()).flatMap((rows) => (rows ?? []).map(({ address }) => address))
  const others = found.map(({ address }) => address).filter((address) => !own.includes(address))
  if (others.length === 0) return { check, state: 'ok', advice: `${name} leads to this machine` }
  const advice = `${name} leads to ${others.join(', ')}, which is no address of this machine: right if a router passes on port 443`
  return { check, state: 'weak', advice }
}

function checkClock(): SetupFinding {
  const { stdout } = spawnSync('timedatectl', ['show', '--property=NTPSynchronized', '--value'], { encoding: 'utf8' })
  if (stdout?.trim() === 'yes') return { check: 'clock', state: 'ok', advice: 'it follows a time server' }
  const advice = 'it follows no time server, and signatures of others seem old or early: apt-get install systemd-timesyncd'
  return { check: 'clock', state: 'weak', advice }
}

/** The unit that may listen on each port. certbot needs port 80: the certificate authority fetches certbot's proofs there. */
const UNITS_BY_PORT: readonly (readonly [port: number, unit: string])[] = [
  [80, 'nginx'],
  [443, 'nginx'],
  [8080, 'rollcall@8080'],
  [8081, 'rollcall@8080'],
  [8082, 'rollcall@8082'],
  [8083, 'rollcall@8082'],
]

function checkPorts(isCertbot: boolean): readonly SetupFinding[] {
  const used = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
      [...(findFileText(file) ?? '').matchAll(/^ *\d+: [\dA-F]+:([\dA-F]{4}) [\dA-F]+:0000 0A /gm)].map(([, port = '']) =>
        Number.parseInt(port, 16),
      ),
    ),
  )
  const ours = UNITS_BY_PORT.filter(([port]) => port !== 80 || isCertbot)
  const taken = ours.filter(([port, unit]) => used.has(port) && !runsSuccessfully('systemctl', 'is-active', unit))
  const free = isCertbot ? '80, 443' : '443'
  if (taken.length === 0) return [{ check: 'ports', state: 'ok', advice: `${free} and 8080 to 8083 are free, or ours` }]
  return taken.map(([port, unit]) => ({
    check: 'ports',
    state: 'broken',
    advice: `port ${port} is for ${unit}, and another program listens on it: ss --listening --processes --tcp names it`,
  }))
}
