/** The files of `deploy/`, and the variables that a server reads. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfig } from '@rollcall/settings/config'

const root = join(import.meta.dirname, '..')

export const deployed = globSync('deploy/**/*', { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
  .toSorted()

export const text = (path: string): string => readFileSync(join(root, path), 'utf8')

/** Every variable that the configuration asks for. */
export function knownVariables(): ReadonlySet<string> {
  const asked = new Set<string>()
  readConfig(
    new Proxy({} as Record<string, string | undefined>, {
      get(_env, name) {
        asked.add(String(name))
        return undefined
      },
    }),
  )
  return asked
}

/** The configuration that an environment of `deploy/` makes, with secrets in place of the files that hold them there. */
export function configurationOf(environment: Readonly<Record<string, unknown>>) {
  const { DATABASE_URL_FILE, ROLLCALL_OWNER_DATABASE_URL_FILE, ROLLCALL_MASTER_KEY_FILE, ...rest } = environment
  const env = Object.entries(rest).map(([name, value]) => [name, String(value)])
  return readConfig({
    ...Object.fromEntries(env),
    ...(DATABASE_URL_FILE !== undefined && { DATABASE_URL: 'postgres://application@postgres/rollcall' }),
    ...(ROLLCALL_OWNER_DATABASE_URL_FILE !== undefined && { ROLLCALL_OWNER_DATABASE_URL: 'postgres://owner@postgres/rollcall' }),
    ...(ROLLCALL_MASTER_KEY_FILE !== undefined && { ROLLCALL_MASTER_KEY: 'ab'.repeat(32) }),
  })
}

/** An image with a version: never the newest of the day. */
export const PINNED = /^[\w./-]+:v?\d[\w.-]*(?:@sha256:[\da-f]{64})?$/
