/** Secrets in files, as container platforms and systemd hand them over: VARIABLE_FILE names the file of VARIABLE. */
import { readFileSync, statSync } from 'node:fs'
import { hasCode } from '../embedded/files.ts'

export type Environment = Readonly<Record<string, string | undefined>>

/** The variables that hold a secret. */
const SECRETS = [
  'DATABASE_URL',
  'ROLLCALL_OWNER_DATABASE_URL',
  'ROLLCALL_MASTER_KEY',
  'ROLLCALL_NEW_MASTER_KEY',
  'ROLLCALL_OIDC_CLIENT_SECRET',
  'ROLLCALL_OIDC_CLIENT_KEY',
] as const

/** The variables that name a file with a secret. */
export const SECRET_FILES: readonly string[] = SECRETS.map((variable) => `${variable}_FILE`)

/** Bytes of a secret. */
const MOST = 4_096

/**
 * The environment with the secrets that are in files, without the end of their last line.
 * @throws Error that names the variable; never what is in the file
 */
export function withSecretFiles(env: Environment): Environment {
  const found = SECRETS.flatMap((variable) => {
    const path = env[`${variable}_FILE`]
    if (path === undefined || path === '') return []
    if ((env[variable] ?? '') !== '') throw new Error(`${variable} and ${variable}_FILE: set one of them`)
    return [[variable, readSecret(`${variable}_FILE`, path)] as const]
  })
  return found.length === 0 ? env : { ...env, ...Object.fromEntries(found) }
}

function readSecret(variable: string, path: string): string {
  try {
    if (statSync(path).size > MOST) throw new Error(`${variable}: the file has more than ${MOST} bytes`)
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '')
    if (text === '') throw new Error(`${variable}: the file is empty`)
    return text
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error
    const reason = hasCode(error, 'ENOENT') ? 'there is no such file' : String(error.code)
    throw new Error(`${variable}: the file cannot be read (${reason})`)
  }
}
