/** Every admin function, as the files of the room export them. */
import { globSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = join(import.meta.dirname, '../src')

/** An admin function, as far as tests read it. */
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
