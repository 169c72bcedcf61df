/**
 * Reads secrets from files, as container platforms and systemd provide them: VARIABLE_FILE names the file for VARIABLE.
 * For master keys, VARIABLE_COMMAND names a program that prints the key.
 */
import { readFileSync, statSync } from 'node:fs'
import { hasErrorCode } from '@rollcall/database/embedded/files'
import { runSecretCommand } from './secret-commands.ts'

export type EnvironmentVariables = Readonly<Record<string, string | undefined>>

/** The variables whose secret may be in a file. */
const SECRET_VARIABLES = [
  'DATABASE_URL',
  'ROLLCALL_OWNER_DATABASE_URL',
  'ROLLCALL_MASTER_KEY',
  'ROLLCALL_NEW_MASTER_KEY',
  'ROLLCALL_OIDC_CLIENT_SECRET',
  'ROLLCALL_OIDC_CLIENT_KEY',
] as const

/** The variables that a program which prints a key does not get. */
const VARIABLES_HIDDEN_FROM_COMMANDS: ReadonlySet<string> = new Set([
  ...SECRET_VARIABLES,
  'PGPASSWORD',
  'ROLLCALL_CLIENT_SECRET',
  'ROLLCALL_OPERATOR_TOKEN',
])

/** The variables whose secret a program may print. */
const VARIABLES_WITH_COMMAND = ['ROLLCALL_MASTER_KEY', 'ROLLCALL_NEW_MASTER_KEY'] as const

/** The largest size of a secret in bytes. */
const MOST_SECRET_BYTES = 4_096

/**
 * Returns the environment with the secrets from files and programs, without the last newline of each.
 * @throws Error that names the variable; never the secret
 */
export function withSecretFiles(env: EnvironmentVariables): EnvironmentVariables {
  const set = (variable: string): string | null => env[variable] || null
  const only = (variable: string, other: string): void => {
    if (set(variable) !== null) throw new Error(`${variable} and ${other}: set one of them`)
  }
  const files = SECRET_VARIABLES.flatMap((variable) => {
    const path = set(`${variable}_FILE`)
    if (path === null) return []
    only(variable, `${variable}_FILE`)
    return [[variable, readSecret(`${variable}_FILE`, path)] as const]
  })
  const printed = VARIABLES_WITH_COMMAND.flatMap((variable) => {
    const name = `${variable}_COMMAND`
    const command = set(name)
    if (command === null) return []
    for (const other of [variable, `${variable}_FILE`]) only(other, name)
    return [[variable, runSecretCommand(name, command, secretCommandEnvironment(env))] as const]
  })
  const found = [...files, ...printed]
  return found.length === 0 ? env : { ...env, ...Object.fromEntries(found) }
}

const secretCommandEnvironment = (env: EnvironmentVariables): EnvironmentVariables =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !VARIABLES_HIDDEN_FROM_COMMANDS.has(name)))

function readSecret(variable: string, path: string): string {
  try {
    if (statSync(path).size > MOST_SECRET_BYTES) throw new Error(`${variable}: the file has more than ${MOST_SECRET_BYTES} bytes`)
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (text === '') throw new Error(`${variable}: the file is empty`)
    return text
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const reason = hasErrorCode(error, 'ENOENT') ? 'there is no such file' : String(error.code)
    throw new Error(`${variable}: the file cannot be read (${reason})`)
  }
}
