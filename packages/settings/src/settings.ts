/** Lists the limits and options of a node, each with its value and its source. A secret is listed without its value. */
import { LIMITS, type LimitName } from '@rollcall/core/limits'
import type { Setting } from '@rollcall/core/model/setting'
import type { Config } from './config.ts'

/** An option: a setting of a node that is not one of its limits. */
interface NodeOptionDefinition {
  readonly variable: string
  /** The value when nothing is set; null when there is none, or when `meaning` says what is used then. */
  readonly default: string | null
  readonly unit?: string
  readonly meaning: string
  /** Reads the value from a configuration; 'secret' for a value that is never read or shown. */
  readonly value: ((config: Config) => string | readonly string[] | number | boolean | undefined) | 'secret'
}

/** The options of a node, as in `docs/settings.md`; a test compares the names. */
export const NODE_OPTION_DEFINITIONS: readonly NodeOptionDefinition[] = [
  { variable: 'HOST', default: '127.0.0.1', meaning: 'address on which peers reach the server', value: ({ host }) => host },
  { variable: 'PORT', default: '8080', meaning: 'port on which peers reach the server', value: ({ port }) => port },
  {
    variable: 'ADMIN_HOST',
    default: '127.0.0.1',
    meaning: "address of the operator's listener",
    value: ({ adminHost }) => adminHost,
  },
  {
    variable: 'ADMIN_PORT',
    default: null,
    meaning: "port of the operator's listener; by default the one after PORT",
    value: ({ adminPort }) => adminPort,
  },
  {
    variable: 'ROLLCALL_ADMIN_PRIVATE_NETWORK',
    default: '0',
    meaning: "1 says that only the operator's machines can reach ADMIN_HOST",
    value: ({ adminPrivateNetwork }) => adminPrivateNetwork,
  },
  {
    variable: 'ROLLCALL_ADMIN_HOSTS',
    default: null,
    meaning: "names and addresses under which the operator's listener answers, beside loopback and its own address",
    value: ({ adminHosts }) => adminHosts,
  },
  {
    variable: 'ROLLCALL_CONSOLE_URL',
    default: null,
    meaning: 'address at which operators open the console; by default that of ADMIN_HOST and ADMIN_PORT',
    value: ({ consoleUrl }) => consoleUrl,
  },
  {
    variable: 'ROLLCALL_OIDC_ISSUER',
    default: null,
    meaning: 'provider of OpenID Connect at which operators may sign in to the console',
    value: ({ openId }) => openId?.issuer,
  },
  {
    variable: 'ROLLCALL_OIDC_CLIENT_ID',
    default: null,
    meaning: 'id of Rollcall at the provider',
    value: ({ openId }) => openId?.client_id,
  },
  { variable: 'ROLLCALL_OIDC_CLIENT_SECRET', default: null, meaning: 'secret of Rollcall at the provider', value: 'secret' },
  {
    variable: 'ROLLCALL_OIDC_CLIENT_KEY',
    default: null,
    meaning: 'private key of Rollcall at the provider, in place of a secret',
    value: 'secret',
  },
  {
    variable: 'ROLLCALL_OIDC_ROLES',
    default: null,
    meaning: 'values of the role claim with roles of Rollcall, as value=role',
    value: ({ openId }) =>
      openId === null ? undefined : [...openId.roles].flatMap(([value, roles]) => roles.map((role) => `${value}=${role}`)),
  },
  {
    variable: 'ROLLCALL_OIDC_ROLE_CLAIM',
    default: 'roles',
    meaning: 'claim of the ID token with the roles, or a path with dots',
    value: ({ openId }) => openId?.role_claim,
  },
  {
    variable: 'ROLLCALL_OIDC_NAME_CLAIM',
    default: 'sub',
    meaning:
      'claim of the ID token with the name under which acts are in the audit log; a claim other than sub has a digest of issuer and subject behind it',
    value: ({ openId }) => openId?.name_claim,
  },
  {
    variable: 'ROLLCALL_OIDC_REGISTRY_CLAIM',
    default: null,
    meaning: 'claim of the ID token with the namespaces that an operator is bound to, or a path with dots',
    value: ({ openId }) => openId?.registry_claim ?? undefined,
  },
  {
    variable: 'ROLLCALL_OIDC_SCOPE',
    default: 'openid',
    meaning: 'scope that the provider is asked for',
    value: ({ openId }) => openId?.scope,
  },
  {
    variable: 'ROLLCALL_OIDC_TITLE',
    default: 'OpenID Connect',
    meaning: 'name of the provider on the sign-in page',
    value: ({ openId }) => openId?.title,
  },
  {
    variable: 'DATABASE_URL',
    default: null,
    meaning: 'address of a PostgreSQL; without it the embedded PostgreSQL is used',
    value: 'secret',
  },
  {
    variable: 'ROLLCALL_OWNER_DATABASE_URL',
    default: null,
    meaning: 'the same database as its owner, for migrate, prune, erase and restore',
    value: 'secret',
  },
  {
    variable: 'ROLLCALL_DATA',
    default: '.rollcall',
    meaning: "folder of the embedded database and of the demo's files",
    value: ({ dataDirectory }) => dataDirectory,
  },
  {
    variable: 'ROLLCALL_MASTER_KEY',
    default: null,
    meaning: 'key that encrypts our own keys in the database; beside the embedded database it may be in a file of ROLLCALL_DATA',
    value: 'secret',
  },
  {
    variable: 'ROLLCALL_SIGNATURE_NAMESPACE',
    default: 'registry',
    meaning: 'the namespace in our signatures',
    value: ({ signatureNamespaces }) => signatureNamespaces.written,
  },
  {
    variable: 'ROLLCALL_SIGNATURE_NAMESPACES',
    default: null,
    meaning: 'namespaces that are accepted in signatures of peers; by default those in use',
    value: ({ signatureNamespaces }) => signatureNamespaces.read,
  },
  {
    variable: 'ROLLCALL_PUBLIC_URL',
    default: null,
    meaning: 'the address that peers know; by default that of HOST and PORT',
    value: ({ publicUrl }) => publicUrl,
  },
  {
    variable: 'ROLLCALL_TOKEN_QUERY',
    default: '0',
    meaning: '1 accepts client credentials in the query string too',
    value: ({ tokenQueryParameters }) => tokenQueryParameters,
  },
  {
    variable: 'ROLLCALL_TWO_PERSON',
    default: '0',
    meaning: '1 lets acts that give access wait for a second operator',
    value: ({ twoPerson }) => twoPerson,
  },
  {
    variable: 'ROLLCALL_PARTNER_PAGE',
    default: '0',
    meaning: "1 gives participants a page on the peers' listener",
    value: ({ partnerPage }) => partnerPage,
  },
  {
    variable: 'ROLLCALL_ROLE',
    default: 'all',
    meaning: 'role of the node: http answers peers, worker processes accepted requests, all does both',
    value: ({ role }) => role,
  },
  {
    variable: 'ROLLCALL_BEHIND_TLS_PROXY',
    default: '0',
    meaning: '1 says that a proxy in front of the server terminates TLS',
    value: ({ behindTlsProxy }) => behindTlsProxy,
  },
  {
    variable: 'ROLLCALL_PROXIES',
    default: null,
    meaning: 'addresses of the proxies whose X-Forwarded-For is read; by default loopback and private networks',
    value: ({ proxies }) => proxies,
  },
  {
    variable: 'ROLLCALL_WITNESS',
    default: null,
    meaning: 'where checkpoints of the audit log go besides the database',
    value: ({ witness }) => witnessText(witness),
  },
  {
    variable: 'ROLLCALL_JOURNAL',
    default: null,
    meaning: 'file of erasures, withdrawals and revocations, which a restore applies',
    value: ({ journal }) => journal,
  },
  {
    variable: 'ROLLCALL_RETRY_SCHEDULE',
    default: null,
    unit: 'seconds',
    meaning: 'pauses from one attempt at a delivery to the next; by default for about 72 hours',
    value: ({ retrySchedule }) => retrySchedule.map(String),
  },
  {
    variable: 'LOG_LEVEL',
    default: 'info',
    meaning: 'what is logged: fatal, error, warn, info, debug, trace or silent',
    value: ({ logLevel }) => logLevel,
  },
]

/** Lists the options of a node, and then its limits. */
export function listNodeSettings(config: Config): readonly Setting[] {
  const source = (variable: string): Setting['source'] => config.sources[variable] ?? 'default'
  const options = NODE_OPTION_DEFINITIONS.map(({ variable, meaning, unit = null, value, ...row }): Setting => {
    const shown = value === 'secret' ? null : settingText(value(config))
    const rest = { default: row.default, unit, meaning, secret: value === 'secret' }
    return { variable, kind: 'option', value: shown, ...rest, source: source(variable) }
  })
  const limits = (Object.keys(LIMITS) as LimitName[]).map((name): Setting => {
    const { variable, unit, meaning, default: otherwise } = LIMITS[name]
    const rest = { unit, meaning, secret: false, source: source(variable) }
    return { variable, kind: 'limit', value: config.limits[name], default: otherwise, ...rest }
  })
  return [...options, ...limits]
}

function settingText(value: string | readonly string[] | number | boolean | undefined): string | null {
  if (value === undefined) return null
  if (typeof value === 'boolean') return value ? '1' : '0'
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  return value.length === 0 ? null : value.join(',')
}

function witnessText(witness: Config['witness']): string | undefined {
  if (witness === null) return undefined
  if (witness.kind === 'file') return witness.path
  const host = witness.host.includes(':') ? `[${witness.host}]` : witness.host
  return `${witness.kind === 'udp' ? 'syslog' : 'syslog+tcp'}://${host}:${witness.port}`
}
