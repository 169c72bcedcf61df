/** Every migration by its name, which says the month it was written in; they run in the order of their names. */
import type { Migration } from 'kysely/migration'
import { directory } from './2026-11-directory.ts'
import { importProgress } from './2026-11-import-progress.ts'
import { keys } from './2026-11-keys.ts'
import { messageMemory } from './2026-11-message-memory.ts'
import { quotas } from './2026-11-quotas.ts'
import { sealPolicies } from './2026-11-seal-policies.ts'

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '2026-11-directory': directory,
  '2026-11-import-progress': importProgress,
  '2026-11-keys': keys,
  '2026-11-message-memory': messageMemory,
  '2026-11-quotas': quotas,
  '2026-11-seal-policies': sealPolicies,
}
