/** Reads the settings of the OpenID Connect provider at which operators sign in to the console. */
import { isIP } from 'node:net'
import { isLoopback } from '@rollcall/base/shared/loopback'
import { OPERATOR_ROLES, type OperatorRole } from '@rollcall/core/model/operator'
import { readClientKey } from '@rollcall/participants/directory/openid-client-key'
import type { OpenIdClientCredential, OpenIdSettings } from '@rollcall/participants/directory/openid-provider'
import type { EnvironmentVariables } from './secret-files.ts'

const ISSUER_VARIABLE = 'ROLLCALL_OIDC_ISSUER'
const NEEDED_OPENID_VARIABLES = ['ROLLCALL_OIDC_CLIENT_ID', 'ROLLCALL_OIDC_ROLES'] as const
/** The variables with our credential for the provider: a secret or a key. With an issuer, exactly one of them must be set. */
const [SECRET, KEY] = ['ROLLCALL_OIDC_CLIENT_SECRET', 'ROLLCALL_OIDC_CLIENT_KEY'] as const
const OPTIONAL_OPENID_VARIABLES = [
  'ROLLCALL_OIDC_ROLE_CLAIM',
  'ROLLCALL_OIDC_NAME_CLAIM',
  'ROLLCALL_OIDC_REGISTRY_CLAIM',
  'ROLLCALL_OIDC_SCOPE',
  'ROLLCALL_OIDC_TITLE',
] as const

/** The variables about the provider, except the `…_FILE` variables, which name files with our secret or key for it. */
export const OPENID_VARIABLES: readonly string[] = [
  ISSUER_VARIABLE,
  ...NEEDED_OPENID_VARIABLES,
  SECRET,
  KEY,
  ...OPTIONAL_OPENID_VARIABLES,
]

/** The path below the console's address to which the provider sends the browser back. */
export const OPENID_CALLBACK_PATH = '/admin/v1/session/openid/callback'

/**
 * Reads the settings; null when operators sign in only with tokens and links.
 * @throws Error that names the variable and its rule
 */
export function readOpenId(env: EnvironmentVariables): OpenIdSettings | null {
  const given = (variable: string): string | undefined => env[variable] || undefined
  const issuer = given(ISSUER_VARIABLE)
  if (issuer === undefined) {
    const other = OPENID_VARIABLES.find((variable) => given(variable) !== undefined)
    if (other !== undefined) throw new Error(`${other} needs ${ISSUER_VARIABLE} beside it`)
    return null
  }
  const needed = (variable: (typeof NEEDED_OPENID_VARIABLES)[number] | 'ROLLCALL_CONSOLE_URL'): string => {
    const value = given(variable)
    if (value === undefined) throw new Error(`${ISSUER_VARIABLE} needs ${variable} beside it`)
    return value
  }
  return {
    issuer: readIssuer(issuer),
    client_id: needed('ROLLCALL_OIDC_CLIENT_ID'),
    credential: readCredential(given(SECRET), given(KEY)),
    roles: readRoles(needed('ROLLCALL_OIDC_ROLES')),
    role_claim: given('ROLLCALL_OIDC_ROLE_CLAIM') ?? 'roles',
    name_claim: given('ROLLCALL_OIDC_NAME_CLAIM') ?? 'sub',
    registry_claim: given('ROLLCALL_OIDC_REGISTRY_CLAIM') ?? null,
    scope: given('ROLLCALL_OIDC_SCOPE') ?? 'openid',
    title: given('ROLLCALL_OIDC_TITLE') ?? 'OpenID Connect',
    redirect_uri: `${needed('ROLLCALL_CONSOLE_URL').replace(/\/+$/, '')}${OPENID_CALLBACK_PATH}`,
  }
}

function readCredential(secret: string | undefined, text: string | undefined): OpenIdClientCredential {
  if (secret !== undefined && text !== undefined) throw new Error(`${SECRET} and ${KEY}: set one of them`)
  if (secret !== undefined) return { secret }
  if (text === undefined) throw new Error(`${ISSUER_VARIABLE} needs ${SECRET} or ${KEY} beside it`)
  const key = readClientKey(text)
  if (key !== null) return key
  throw new Error(
    `${KEY} must be a private key without a password, in PEM or as a JWK: RSA of 2048 bits or more, EC (P-256, P-384, P-521) or Ed25519`,
  )
}

function readIssuer(text: string): string {
  const url = URL.parse(text)
  const host = url?.hostname.replace(/^\[|\]$/g, '') ?? ''
  const local = url?.protocol === 'http:' && isIP(host) !== 0 && isLoopback(host)
  if (url === null || (url.protocol !== 'https:' && !local) || url.search !== '' || url.username !== '') {
    throw new Error(`${ISSUER_VARIABLE} must be an https address without query and credentials`)
  }
  // At these addresses Microsoft Entra signs in everybody, and openid-client takes the ID tokens of every tenant.
  if (host === 'login.microsoftonline.com' && /^\/(?:common|organizations|consumers)(?:\/|$)/i.test(url.pathname)) {
    throw new Error(`${ISSUER_VARIABLE} must name one tenant: at this address people of every tenant can sign in`)
  }
  return text
}

/** Reads pairs of a claim's value and one of our roles: `registry-admins=own,support=read`. */
function readRoles(text: string): ReadonlyMap<string, readonly OperatorRole[]> {
  const roles = new Map<string, readonly OperatorRole[]>()
  for (const pair of text.split(',')) {
    const at = pair.lastIndexOf('=')
    const [value, word] = [pair.slice(0, at).trim(), pair.slice(at + 1).trim()]
    const role = OPERATOR_ROLES.find((one) => one === word)
    if (at < 1 || value === '' || role === undefined) {
      throw new Error(
        `ROLLCALL_OIDC_ROLES must be pairs such as registry-admins=own,support=read; the roles are ${OPERATOR_ROLES.join(', ')}`,
      )
    }
    roles.set(value, [...(roles.get(value) ?? []), role])
  }
  return roles
}
