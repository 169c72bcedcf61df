/** Chooses where an act looks for a person: in those records of a registry that are stored here. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { type RegistryRecords, storedRecordsOf } from '@rollcall/records/records/registry-records'
import { isBecomingMirror } from '@rollcall/source/store/changed-sources'
import { AdminRefusal } from '../admin-function.ts'

/**
 * Returns the records of a registry to find persons in. While the records of a new registry are still being copied from its
 * source, some may be missing. This does no harm: the registry has not answered anybody yet.
 * @throws AdminRefusal the registry answered from its source directly, and the change to a copy of its records has not ended
 */
export async function requireStoredRecords(db: Database, registry: Registry): Promise<RegistryRecords> {
  if (registry.awaits_records && (await isBecomingMirror(db.pool, registry.id))) {
    throw new AdminRefusal(
      `the records of ${registry.namespace} are being copied; try again when rollcall source status ${registry.namespace} says that it answers`,
      { reason: 'unavailable' },
    )
  }
  return storedRecordsOf(db, registry)
}
