/** The credentials of a participant's callbacks, from files: a secret on a command line would be seen by others. */
import { type CallbackSettings, isDefaultUrl, isIdentity, type Secrets } from '@rollcall/server'
import { CommandError } from './failure.ts'
import { readInput } from './input.ts'

export interface CredentialOptions {
  readonly auth?: CallbackSettings['auth']
  readonly origin?: string
  readonly tokenFile?: string
  readonly tokenUrl?: string
  readonly clientId?: string
  readonly clientSecretFile?: string
  readonly scope?: string
  readonly cert?: string
  readonly key?: string
}

/** The options that belong to each way; what belongs to another one is a mistake. */
const OPTIONS = {
  none: [],
  bearer: ['origin', 'tokenFile'],
  oauth2: ['origin', 'tokenUrl', 'clientId', 'clientSecretFile', 'scope'],
  mtls: ['origin', 'cert', 'key'],
} as const satisfies Record<CallbackSettings['auth'], readonly (keyof CredentialOptions)[]>

const ALL = Object.values(OPTIONS).flat()

/**
 * What is to be sealed; null: there shall be none; undefined: they stay as they are.
 * @throws CommandError something is missing, or wrong
 */
export async function credentialsFor(
  addresses: Pick<CallbackSettings, 'allowed' | 'default_url'>,
  options: CredentialOptions,
): Promise<Secrets | null | undefined> {
  const { auth } = options
  const own: readonly string[] = auth === undefined ? [] : OPTIONS[auth]
  const strange = ALL.find((name) => options[name] !== undefined && !own.includes(name))
  if (strange !== undefined) {
    throw new CommandError(
      auth === undefined
        ? `${flag(strange)} needs --auth`
        : `${flag(strange)} does not belong to --auth ${auth}`,
    )
  }
  if (auth === undefined) return undefined
  if (auth === 'none') return null
  const origin = originOf(addresses, options.origin)
  if (auth === 'bearer') return { auth, origin, token: await secret(options, 'tokenFile') }
  if (auth === 'mtls') {
    const [cert, key] = [await file(options, 'cert'), await file(options, 'key')]
    if (!isIdentity({ cert, key }))
      throw new CommandError('the certificate and the key do not belong together')
    return { auth, origin, cert, key }
  }
  const [token_url, client_id] = [needed(options, 'tokenUrl'), needed(options, 'clientId')]
  if (!isDefaultUrl(token_url)) throw new CommandError('--token-url must be an http or https address')
  const client_secret = await secret(options, 'clientSecretFile')
  return {
    auth,
    origin,
    token_url: new URL(token_url).href,
    client_id,
    client_secret,
    scope: options.scope ?? null,
  }
}

function originOf(
  { default_url, allowed }: Pick<CallbackSettings, 'allowed' | 'default_url'>,
  given: string | undefined,
): string {
  const [only, ...more] = allowed
  const text = given ?? default_url ?? (more.length === 0 ? only : undefined)
  const origin = text === undefined ? undefined : URL.parse(text)?.origin
  if (origin !== undefined && origin !== 'null' && (given === undefined || isDefaultUrl(given))) return origin
  throw new CommandError('--origin must say whom the credentials are for, such as https://spmis.example.org')
}

function needed(options: CredentialOptions, name: keyof CredentialOptions): string {
  const value = options[name]
  if (value === undefined) throw new CommandError(`--auth ${options.auth} needs ${flag(name)}`)
  return value
}

const file = async (options: CredentialOptions, name: keyof CredentialOptions): Promise<string> =>
  readInput(needed(options, name))

/** One line of printable characters, without the end of the line that editors add. */
async function secret(options: CredentialOptions, name: keyof CredentialOptions): Promise<string> {
  const text = (await file(options, name)).trim()
  if (/^[\x21-\x7e]{1,8192}$/.test(text)) return text
  throw new CommandError(`what ${flag(name)} names must hold one word of printable characters`)
}

const flag = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
