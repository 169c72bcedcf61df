/** Reads the credentials for a participant's callbacks. Secrets are in files: others can see a command line. */
import type { CallbackAuth } from '@rollcall/admin/callbacks/callbacks'
import { CommandError } from './failure.ts'
import { readFileOrStdin } from './input.ts'

export interface CredentialOptions {
  readonly auth?: CallbackAuth | undefined
  readonly origin?: string | undefined
  readonly tokenFile?: string | undefined
  readonly tokenUrl?: string | undefined
  readonly clientId?: string | undefined
  readonly clientSecretFile?: string | undefined
  readonly scope?: string | undefined
  readonly cert?: string | undefined
  readonly key?: string | undefined
}

/** For each option: its member in the input, and whether its value is the text itself or a file with the text. */
const CREDENTIAL_OPTIONS = {
  origin: { member: 'origin', read: 'text' },
  tokenFile: { member: 'token', read: 'secret' },
  tokenUrl: { member: 'token_url', read: 'text' },
  clientId: { member: 'client_id', read: 'text' },
  clientSecretFile: { member: 'client_secret', read: 'secret' },
  scope: { member: 'scope', read: 'text' },
  cert: { member: 'cert', read: 'file' },
  key: { member: 'key', read: 'file' },
} as const
type OptionName = keyof typeof CREDENTIAL_OPTIONS
type CredentialMember = (typeof CREDENTIAL_OPTIONS)[OptionName]['member']

/** For each way of authentication: the options that it needs, and the options that may also be given (`more`). */
const OPTIONS_BY_AUTH: Readonly<
  Record<CallbackAuth, { readonly needed: readonly OptionName[]; readonly more: readonly OptionName[] }>
> = {
  none: { needed: [], more: [] },
  bearer: { needed: ['tokenFile'], more: ['origin'] },
  oauth2: { needed: ['tokenUrl', 'clientId', 'clientSecretFile'], more: ['origin', 'scope'] },
  mtls: { needed: ['cert', 'key'], more: ['origin'] },
}

/**
 * Reads the credentials into the input of the admin function.
 * @throws CommandError an option is missing, does not fit the others, or cannot be read
 */
export async function readCredentialOptions(
  options: CredentialOptions,
): Promise<{ readonly auth?: CallbackAuth } & Partial<Record<CredentialMember, string>>> {
  const { auth } = options
  const { needed, more } = OPTIONS_BY_AUTH[auth ?? 'none']
  const given = (Object.keys(CREDENTIAL_OPTIONS) as OptionName[]).filter((name) => options[name] !== undefined)
  const strange = given.find((name) => !needed.includes(name) && !more.includes(name))
  if (strange !== undefined) {
    throw new CommandError(
      auth === undefined ? `${optionFlag(strange)} needs --auth` : `${optionFlag(strange)} does not belong to --auth ${auth}`,
    )
  }
  const missing = needed.find((name) => !given.includes(name))
  if (missing !== undefined) throw new CommandError(`--auth ${auth} needs ${optionFlag(missing)}`)
  const read: Partial<Record<CredentialMember, string>> = {}
  for (const name of given) read[CREDENTIAL_OPTIONS[name].member] = await readOptionValue(name, options[name] ?? '')
  return { ...(auth !== undefined && { auth }), ...read }
}

/** Reads an option's value. A secret is one word of at most 8192 printable ASCII characters; space around it is cut. */
async function readOptionValue(name: OptionName, value: string): Promise<string> {
  const { read } = CREDENTIAL_OPTIONS[name]
  if (read === 'text') return value
  const text = await readFileOrStdin(value)
  if (read === 'file') return text
  const secret = text.trim()
  if (/^[\x21-\x7e]{1,8192}$/.test(secret)) return secret
  throw new CommandError(`${optionFlag(name)} must name a file that holds one word of printable characters`)
}

const optionFlag = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`
