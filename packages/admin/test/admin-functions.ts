/** Finds every admin function of the package, by the names under which its files export them. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../src')

/** The members of an admin function that tests read. */
export interface AdminFunction {
  readonly input: object
  readonly result: object
  readonly act: { readonly name: string; readonly approval: string } | null
}

export async function adminFunctions(): Promise<readonly (readonly [name: string, AdminFunction])[]> {
  const files = globSync('**/*.ts', { cwd: FOLDER }).filter((file) => !file.endsWith('.test.ts'))
  const modules = await Promise.all(
    files.toSorted().map((file): Promise<object> => import(/* @vite-ignore */ join(FOLDER, file))),
  )
  return modules
    .flatMap((exported): [string, unknown][] => Object.entries(exported))
    .filter((entry): entry is [string, AdminFunction] => isAdminFunction(entry[1]))
}

const isAdminFunction = (value: unknown): value is AdminFunction =>
  typeof value === 'function' && 'input' in value && 'result' in value && 'act' in value
