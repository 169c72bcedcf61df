/** The packages of the registry's side, as the disk has them: all but those that other systems use, and the pages. */
import { globSync } from 'node:fs'

const BESIDE = ['protocol', 'client', 'synthetic', 'console', 'cli']

export const registryPackages: readonly string[] = globSync('packages/*/package.json')
  .map((path) => path.split('/')[1] ?? '')
  .filter((name) => !BESIDE.includes(name))
  .toSorted()

/** Their sources without tests, such as `packages/core/src/limits.ts`. */
export const registrySources: readonly string[] = globSync(`packages/{${registryPackages.join(',')},}/src/**/*.ts`)
  .filter((path) => !path.endsWith('.test.ts'))
  .toSorted()
