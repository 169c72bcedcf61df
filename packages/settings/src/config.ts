/** Reads the configuration from the environment. docs/settings.md and docs/limits.md list the variables. */
import type { KeyObject } from 'node:crypto'
import { isIP } from 'node:net'
import { resolve } from 'node:path'
import { readWitnessAddress, type WitnessAddress } from '@rollcall/audit/witness-target'
import { readAddressPrefix } from '@rollcall/base/shared/address-prefix'
import { type Limits, readLimits } from '@rollcall/core/limits'
import { DEFAULT_SCHEDULE, mostWholeScheduleSeconds, parseSchedule } from '@rollcall/delivery/delivery/schedule'
import { parseMasterKey } from '@rollcall/keys/master-key'
import type { OpenIdSettings } from '@rollcall/participants/directory/openid-provider'
import { listenerUrl } from './addresses.ts'
import { readOpenId } from './openid-settings.ts'
import { type EnvironmentVariables, withSecretFiles } from './secret-files.ts'
import { refuseUnknownVariables } from './variables.ts'

/** The roles of a node: it answers peers (http), it works on accepted requests (worker), or both (all). */
export const NODE_ROLES = ['http', 'worker', 'all'] as const
export type NodeRole = (typeof NODE_ROLES)[number]

/** The configuration of a process, read from its environment. */
export interface Config {
  readonly role: NodeRole
  readonly host: string
  readonly port: number
  readonly adminHost: string
  readonly adminPort: number
  /** More names and addresses of the operator's listener, besides loopback and its own address. */
  readonly adminHosts: readonly string[]
  /** True when only machines of the operator are in the network of the operator's listener. */
  readonly adminPrivateNetwork: boolean
  /** The folder of the embedded database, of its master key and of the demo's files. */
  readonly dataDirectory: string
  /**
   * True when a TLS proxy is before the listeners. When false, `serve` listens for plain HTTP on loopback addresses alone; with
   * `adminPrivateNetwork`, the operator's listener may have another address.
   */
  readonly behindTlsProxy: boolean
  /** Addresses and prefixes of proxies whose X-Forwarded-For is used; empty: all loopback and private addresses count. */
  readonly proxies: readonly string[]
  /** The address of the database; undefined for the embedded one. */
  readonly databaseUrl: string | undefined
  /** The address for the database's owner (`database/src/roles.ts`); undefined: one role is owner and application. */
  readonly ownerDatabaseUrl: string | undefined
  /** The address that peers know; undefined when it is the listener's (`baseUrl`). */
  readonly publicUrl: string | undefined
  /** The address at which operators open the console, without a final slash. */
  readonly consoleUrl: string
  /** The OpenID provider at which operators sign in to the console; null when operators sign in only with tokens and links. */
  readonly openId: OpenIdSettings | null
  /** The master key, which encrypts the secrets in the database; undefined when the environment has none. */
  readonly masterKey: KeyObject | undefined
  /** True when the master key is read from a file of the data directory, if the environment has none (`storage.ts`). */
  readonly masterKeyInFile: boolean
  /** The next master key, while it replaces the current one. */
  readonly newMasterKey: KeyObject | undefined
  /** The `namespace` in signatures: the one that we write, and those that we accept. */
  readonly signatureNamespaces: { readonly written: string; readonly read: readonly string[] }
  /**
   * The witness: the file or syslog server that gets a copy of the signed states (checkpoints) of the audit log. Null: the states
   * are only in the database.
   */
  readonly witness: WitnessAddress | null
  /** The path of the journal, which a restore applies; undefined when there is no journal. */
  readonly journal: string | undefined
  readonly logLevel: string
  readonly tokenQueryParameters: boolean
  /** True when some acts wait for a second operator. */
  readonly twoPerson: boolean
  /** True when the partner page is served to participants, on the peers' listener. */
  readonly partnerPage: boolean
  /** Seconds between the attempts at a delivery. */
  readonly retrySchedule: readonly number[]
  readonly limits: Limits
  /** Where the value of each set variable comes from; `file` also means a program that printed a key. */
  readonly sources: Readonly<Record<string, 'environment' | 'file'>>
}

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']

/** Reads the configuration. @throws Error that names the variable and its rule */
export function readConfig(environment: EnvironmentVariables): Config {
  refuseUnknownVariables(environment)
  const env = withSecretFiles(environment)
  const port = readPort(env, 'PORT', 8080)
  const limits = readLimits(env)
  const adminHost = findSetting(env, 'ADMIN_HOST') ?? '127.0.0.1'
  const adminPort = readPort(env, 'ADMIN_PORT', port === 0 ? 0 : port + 1)
  return {
    role: readChoice(env, 'ROLLCALL_ROLE', NODE_ROLES, 'all'),
    host: findSetting(env, 'HOST') ?? '127.0.0.1',
    port,
    adminHost,
    adminPort,
    adminHosts: readHosts(env, 'ROLLCALL_ADMIN_HOSTS'),
    adminPrivateNetwork: readChoice(env, 'ROLLCALL_ADMIN_PRIVATE_NETWORK', ['0', '1'], '0') === '1',
    dataDirectory: resolve(findSetting(env, 'ROLLCALL_DATA') ?? '.rollcall'),
    behindTlsProxy: readChoice(env, 'ROLLCALL_BEHIND_TLS_PROXY', ['0', '1'], '0') === '1',
    proxies: readProxies(env),
    databaseUrl: readDatabaseUrl(env, 'DATABASE_URL', environment),
    ownerDatabaseUrl: readOwnerDatabaseUrl(env, environment),
    publicUrl: readWebUrl(env, 'ROLLCALL_PUBLIC_URL'),
    consoleUrl: readWebUrl(env, 'ROLLCALL_CONSOLE_URL') ?? listenerUrl(adminHost, adminPort),
    openId: readOpenId(env),
    masterKey: readMasterKey(env, 'ROLLCALL_MASTER_KEY', environment),
    masterKeyInFile: findSetting(env, 'DATABASE_URL') === undefined,
    newMasterKey: readMasterKey(env, 'ROLLCALL_NEW_MASTER_KEY', environment),
    signatureNamespaces: readSignatureNamespaces(env),
    witness: readAuditWitness(env),
    journal: readJournalPath(env),
    logLevel: readChoice(env, 'LOG_LEVEL', LOG_LEVELS, 'info'),
    tokenQueryParameters: readChoice(env, 'ROLLCALL_TOKEN_QUERY', ['0', '1'], '0') === '1',
    twoPerson: readChoice(env, 'ROLLCALL_TWO_PERSON', ['0', '1'], '0') === '1',
    partnerPage: readChoice(env, 'ROLLCALL_PARTNER_PAGE', ['0', '1'], '0') === '1',
    retrySchedule: readRetrySchedule(env, limits),
    limits,
    sources: variableSourcesOf(environment, env),
  }
}

/**
 * Finds where the value of each set variable comes from.
 * @param environment the environment of the process
 * @param env the same, with secrets from files and programs
 */
function variableSourcesOf(environment: EnvironmentVariables, env: EnvironmentVariables): Config['sources'] {
  const set = Object.keys(env).filter((variable) => findSetting(env, variable) !== undefined)
  return Object.fromEntries(
    set.map((variable) => [variable, findSetting(environment, variable) === undefined ? 'file' : 'environment']),
  )
}

function findSetting(env: EnvironmentVariables, variable: string): string | undefined {
  const value = env[variable]
  return value === '' ? undefined : value
}

/** The namespaces accepted in signatures by default, from public examples and other systems. The last one is a placeholder. */
const DEFAULT_SIGNATURE_NAMESPACES = 'registry,reg,rollcall,spdci,dci,g2p,ns,<NAMESPACE>'

/** A word that can stand in a quoted parameter of a header, without a comma. */
const SIGNATURE_NAMESPACE_PATTERN = /^[\x21\x23-\x2b\x2d-\x5b\x5d-\x7e]{1,64}$/

function readSignatureNamespaces(env: EnvironmentVariables): Config['signatureNamespaces'] {
  const written = findSetting(env, 'ROLLCALL_SIGNATURE_NAMESPACE') ?? 'registry'
  const read = (findSetting(env, 'ROLLCALL_SIGNATURE_NAMESPACES') ?? DEFAULT_SIGNATURE_NAMESPACES).split(',')
  for (const word of [written, ...read]) {
    if (!SIGNATURE_NAMESPACE_PATTERN.test(word)) {
      throw new Error('ROLLCALL_SIGNATURE_NAMESPACE(S) must be words without spaces, commas and quotes')
    }
  }
  return { written, read: [...new Set([written, ...read])] }
}

function readAuditWitness(env: EnvironmentVariables): WitnessAddress | null {
  const value = findSetting(env, 'ROLLCALL_WITNESS')
  if (value === undefined) return null
  const address = readWitnessAddress(value)
  if (address === null) {
    throw new Error('ROLLCALL_WITNESS must be the path of a file, syslog://host:port (UDP) or syslog+tcp://host:port')
  }
  return address.kind === 'file' ? { ...address, path: resolve(address.path) } : address
}

function readJournalPath(env: EnvironmentVariables): string | undefined {
  const value = findSetting(env, 'ROLLCALL_JOURNAL')
  if (value === undefined) return undefined
  if (/^[a-z][a-z0-9+.-]*:/i.test(value)) throw new Error('ROLLCALL_JOURNAL must be the path of a file')
  return resolve(value)
}

function readRetrySchedule(env: EnvironmentVariables, { exchange_retention }: Limits): readonly number[] {
  const value = findSetting(env, 'ROLLCALL_RETRY_SCHEDULE')
  if (value === undefined) return DEFAULT_SCHEDULE
  const schedule = parseSchedule(value)
  if (schedule === null) {
    throw new Error('ROLLCALL_RETRY_SCHEDULE must be at most 100 numbers of seconds with commas between them')
  }
  if (mostWholeScheduleSeconds(schedule) > exchange_retention) {
    throw new Error('ROLLCALL_RETRY_SCHEDULE must end within ROLLCALL_EXCHANGE_RETENTION, when deliveries are deleted')
  }
  return schedule
}

function readPort(env: EnvironmentVariables, variable: string, otherwise: number): number {
  const value = findSetting(env, variable)
  if (value === undefined) return otherwise
  const port = Number(value)
  if (!/^\d{1,5}$/.test(value) || port > 65_535) {
    throw new Error(`${variable} must be a port, a whole number from 0 to 65535`)
  }
  return port
}

/** Reads names or addresses with commas between them, without ports. */
function readHosts(env: EnvironmentVariables, variable: string): readonly string[] {
  const hosts = (findSetting(env, variable) ?? '').split(',').filter((host) => host !== '')
  if (hosts.some((host) => isIP(host) === 0 && !/^[A-Za-z0-9][A-Za-z0-9.-]{0,252}$/.test(host))) {
    throw new Error(`${variable} must be names or addresses with commas between them, without ports and spaces`)
  }
  return hosts
}

function readProxies(env: EnvironmentVariables): readonly string[] {
  const prefixes = (findSetting(env, 'ROLLCALL_PROXIES') ?? '').split(',').filter((prefix) => prefix !== '')
  if (prefixes.every((prefix) => readAddressPrefix(prefix) !== null)) return prefixes
  throw new Error('ROLLCALL_PROXIES must be addresses or prefixes such as 10.0.0.0/8 with commas between them')
}

function readChoice<const Choice extends string>(
  env: EnvironmentVariables,
  variable: string,
  choices: readonly Choice[],
  otherwise: Choice,
): Choice {
  const value = findSetting(env, variable) ?? otherwise
  const chosen = choices.find((choice) => choice === value)
  if (chosen === undefined) throw new Error(`${variable} must be one of ${choices.join(', ')}`)
  return chosen
}

/** The words for messages that say where the operator has put a secret: a variable, a file or a program. */
function secretPlaceText(variable: string, given: EnvironmentVariables): string {
  if (findSetting(given, variable) !== undefined) return variable
  return findSetting(given, `${variable}_FILE`) === undefined
    ? `what ${variable}_COMMAND prints`
    : `the content of ${variable}_FILE`
}

/** Reads a database address. Checks only its beginning: pg checks the rest. It may have a password: never quote it. */
function readDatabaseUrl(env: EnvironmentVariables, variable: string, given: EnvironmentVariables): string | undefined {
  const value = findSetting(env, variable)
  if (value === undefined || /^postgres(ql)?:\/\//.test(value)) return value
  throw new Error(`${secretPlaceText(variable, given)} must be an address such as postgres://user:password@host/database`)
}

function readOwnerDatabaseUrl(env: EnvironmentVariables, given: EnvironmentVariables): string | undefined {
  const variable = 'ROLLCALL_OWNER_DATABASE_URL'
  const value = readDatabaseUrl(env, variable, given)
  if (value === undefined || findSetting(env, 'DATABASE_URL') !== undefined) return value
  throw new Error(`${variable} needs DATABASE_URL beside it: the same database, as the application role`)
}

function readMasterKey(env: EnvironmentVariables, variable: string, given: EnvironmentVariables): KeyObject | undefined {
  const value = findSetting(env, variable)
  if (value === undefined) return undefined
  const key = parseMasterKey(value.trim())
  if (key === null) throw new Error(`${secretPlaceText(variable, given)} must be 32 bytes as base64, base64url or hexadecimal`)
  return key
}

function readWebUrl(env: EnvironmentVariables, variable: string): string | undefined {
  const value = findSetting(env, variable)
  if (value === undefined) return undefined
  const url = URL.parse(value)
  const isPlain = url !== null && [url.search, url.hash, url.username, url.password].every((part) => part === '')
  if (!isPlain || !['http:', 'https:'].includes(url.protocol)) {
    throw new Error(`${variable} must be an http or https address without query and credentials`)
  }
  return value.replace(/\/+$/, '')
}
