/** The names of engines whose databases can be sources, and hints for operators who write another name. */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { makeRefusal } from './source-refusal.ts'

export const ENGINE_NAMES = ['postgresql', 'mariadb', 'mysql'] as const
export type EngineName = (typeof ENGINE_NAMES)[number]

/** The messages for names that are no engine here: databases that cannot be sources, and another name of PostgreSQL. */
const OTHER_ENGINE_HINTS: Readonly<Record<string, string>> = {
  mssql: 'Microsoft SQL Server cannot be read yet; import its records from a file (docs/import.md)',
  oracle: 'Oracle cannot be read yet; import its records from a file (docs/import.md)',
  postgres: 'is called postgresql here',
}

/** Checks the name of an engine. @throws SourceRefusal the engine is unknown, or cannot be read yet */
export function checkEngine(given: string): EngineName {
  const found = ENGINE_NAMES.find((name) => name === given)
  if (found !== undefined) return found
  const known = Object.hasOwn(OTHER_ENGINE_HINTS, given) ? OTHER_ENGINE_HINTS[given] : undefined
  const rule = known ?? `must be ${ENGINE_NAMES.join(' or ')}${nearestNameHint(given, ENGINE_NAMES)}`
  throw makeRefusal(['engine'], rule)
}
