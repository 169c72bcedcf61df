/** Finds the ids of the records under which the events of a person are stored. */

import type { RecordId } from '@rollcall/core/model/records'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import type { RecordType } from '@rollcall/protocol'
import { storedRecordsOf } from '@rollcall/records/records/registry-records'
import type { ClientBase } from 'pg'

/** Returns the ids of a record and of those merged into it. @param client a transaction (default: none) */
export async function listRecordAndRetiredIds(
  db: Database,
  registry: RegistryShape,
  recordType: RecordType,
  id: RecordId,
  client: Pick<ClientBase, 'query'> = db.pool,
): Promise<readonly RecordId[]> {
  const merged = await storedRecordsOf(db, registry).within(client).merged(registry, recordType, [id])
  return [id, ...(merged.get(id) ?? []).map((one) => one.id)]
}
