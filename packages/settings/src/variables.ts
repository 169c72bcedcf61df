/** Refuses unknown environment variables, and says what a misspelled one likely means. */

import { nearestName } from '@rollcall/base/shared/message-words'
import { LIMITS } from '@rollcall/core/limits'
import { OPENID_VARIABLES } from './openid-settings.ts'
import { REPLACEMENTS_BY_VARIABLE, replacedVariableMessage } from './replaced.ts'

/** All variables with our prefix but those of limits. docs/settings.md describes them. */
const KNOWN_VARIABLES = [
  'ROLLCALL_ADMIN_HOSTS',
  'ROLLCALL_ADMIN_PRIVATE_NETWORK',
  'ROLLCALL_BEHIND_TLS_PROXY',
  'ROLLCALL_CLIENT_SECRET',
  'ROLLCALL_CONSOLE_URL',
  'ROLLCALL_DATA',
  'ROLLCALL_DEMO_REMOTE',
  'ROLLCALL_DEMO_WRITES',
  'ROLLCALL_JOURNAL',
  'ROLLCALL_MASTER_KEY',
  'ROLLCALL_MASTER_KEY_COMMAND',
  'ROLLCALL_MASTER_KEY_FILE',
  'ROLLCALL_NEW_MASTER_KEY',
  'ROLLCALL_NEW_MASTER_KEY_COMMAND',
  'ROLLCALL_NEW_MASTER_KEY_FILE',
  ...OPENID_VARIABLES,
  'ROLLCALL_OIDC_CLIENT_SECRET_FILE',
  'ROLLCALL_OIDC_CLIENT_KEY_FILE',
  'ROLLCALL_OPERATOR_TOKEN',
  'ROLLCALL_OWNER_DATABASE_URL',
  'ROLLCALL_OWNER_DATABASE_URL_FILE',
  'ROLLCALL_PARTNER_PAGE',
  'ROLLCALL_PROXIES',
  'ROLLCALL_PUBLIC_URL',
  'ROLLCALL_RETRY_SCHEDULE',
  'ROLLCALL_ROLE',
  'ROLLCALL_SHELL_USER',
  'ROLLCALL_SIGNATURE_NAMESPACE',
  'ROLLCALL_SIGNATURE_NAMESPACES',
  'ROLLCALL_TOKEN_QUERY',
  'ROLLCALL_TWO_PERSON',
  'ROLLCALL_WITNESS',
]

/**
 * Misspelled names, with what they mean. A name without our prefix may belong to another program, so only clear mistakes are
 * refused.
 */
const MISSPELLED_VARIABLES: Readonly<Record<string, string>> = {
  DATABASE_URI: 'DATABASE_URL',
  DATABASE_URL_COMMAND: 'DATABASE_URL or DATABASE_URL_FILE',
  DATABSE_URL: 'DATABASE_URL',
  ROLLCALL_DATABASE_URL: 'DATABASE_URL',
  ROLLCALL_HOST: 'HOST',
  ROLLCALL_PORT: 'PORT',
  ROLLCALL_ADMIN_HOST: 'ADMIN_HOST',
  ROLLCALL_ADMIN_PORT: 'ADMIN_PORT',
  ROLLCALL_LOG_LEVEL: 'LOG_LEVEL',
  ADMINPORT: 'ADMIN_PORT',
  ADMINHOST: 'ADMIN_HOST',
  LOGLEVEL: 'LOG_LEVEL',
}

const VARIABLE_PREFIX = 'ROLLCALL_'

/** True for a variable that Kubernetes sets in every container, for a service whose name begins with rollcall. */
const isKubernetesVariable = (name: string, value: string): boolean =>
  /^ROLLCALL_(?:[A-Z0-9_]+_)?(?:SERVICE_(?:HOST|PORT(?:_[A-Z0-9_]+)?)|PORT_\d+_(?:TCP|UDP).*)$/.test(name) ||
  (/^ROLLCALL_(?:[A-Z0-9_]+_)?PORT$/.test(name) && /^(?:tcp|udp|sctp):\/\//.test(value))

/** Refuses unknown, replaced and misspelled variables. @throws Error that names the variable; never its value */
export function refuseUnknownVariables(env: Readonly<Record<string, string | undefined>>): void {
  const known = new Set([...KNOWN_VARIABLES, ...Object.values(LIMITS).map(({ variable }) => variable)])
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || value === '' || known.has(name) || isKubernetesVariable(name, value)) continue
    const now = Object.hasOwn(REPLACEMENTS_BY_VARIABLE, name) ? REPLACEMENTS_BY_VARIABLE[name] : undefined
    if (now !== undefined) throw new Error(replacedVariableMessage(name, now))
    const meant = Object.hasOwn(MISSPELLED_VARIABLES, name) ? MISSPELLED_VARIABLES[name] : undefined
    if (meant !== undefined) throw new Error(`${name} is not read: set ${meant} instead`)
    if (!name.startsWith(VARIABLE_PREFIX)) continue
    const nearest = nearestName(
      name.slice(VARIABLE_PREFIX.length),
      [...known].map((one) => one.slice(VARIABLE_PREFIX.length)),
    )
    const advice =
      nearest === undefined ? 'docs/settings.md lists those there are' : `the nearest is ${VARIABLE_PREFIX}${nearest}`
    throw new Error(`${name} is no variable of this version; ${advice}`)
  }
}
