/** Every migration by its name, which says the month it was written in; they run in the order of their names. */
import type { Migration } from 'kysely/migration'
import { directory } from './2026-11-directory.ts'
import { importProgress } from './2026-11-import-progress.ts'

export const MIGRATIONS: Readonly<Record<string, Migration>> = {
  '2026-11-directory': directory,
  '2026-11-import-progress': importProgress,
}
