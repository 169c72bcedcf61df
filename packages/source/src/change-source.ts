/** Replaces the source file of a registry: its records may be read, followed or mapped in another way. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { StoreRefusal } from '@rollcall/database/refusal'
import { NO_STATEMENT_TIMEOUT_SQL, withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { ensureRecordTables } from '@rollcall/records/records/record-tables'
import { isMirrorSource, storeSource } from '@rollcall/records/registries/registries'
import type { ClientBase } from 'pg'
import type { SourceFile } from './engine/mapped-records.ts'
import { makeRefusal } from './engine/source-refusal.ts'
import { readSourceFile } from './source-file.ts'
import { beginMirror, dropLeftCopies, endMirror, leaveMirror } from './store/changed-sources.ts'
import { sourceFileDigest } from './store/mirrors.ts'
import { replaceStoredRecordIds } from './store/moved-records.ts'

/**
 * Stores another source file. A mirror goes on answering: live, or from its copies, which a comparison by the new file replaces
 * in portions. A registry that was read live and becomes a mirror answers nothing until its records are copied.
 * @throws SourceRefusal, StoreRefusal as `checkSourceChange`; or the copies are still being compared with the source, or somebody else
 * has changed the source file
 */
export async function changeSource(db: Database, registry: Registry, source: object): Promise<void> {
  const { id, namespace } = registry
  const { before, former } = checkSourceChange(registry, source)
  // Only a mirror that followed PostgreSQL's log has left a replication slot in its source, which must be dropped.
  const keeping = former.mirror?.follow === 'logical' ? before : null
  const [wasCopied, isCopy] = [isMirrorSource(before), isMirrorSource(source)]
  if (!wasCopied && isCopy) await makeMirrorTables(db, registry)
  await withTransaction(db.pool, async (client) => {
    // The statements have no time limit, because the record ids in all events and stored pages of the registry may change.
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    await lockRegistryFor(client, id, 'merge')
    const awaits_records = isCopy && (!wasCopied || registry.awaits_records === true)
    // If records move between our tables and the source, searches store no ids of the former place after this update.
    // Ids that are stored already are replaced: to live ones below, to those of copies when all records are copied.
    if (!(await storeSource(client, registry, { source, own_records: isCopy, awaits_records }))) {
      throw new StoreRefusal(`the source of ${namespace} was changed by somebody else meanwhile; look at it again`)
    }
    if (wasCopied && !isCopy) await stopCopying(client, registry, keeping)
    else if (wasCopied) await endMirror(client, id, keeping)
    else if (isCopy) await beginMirror(client, id)
  })
}

/**
 * Checks that a registry may get another source file. While its records are or become live ones, or are copied for the first
 * time, keys must stay the same, because ids are or may be made from them.
 * @returns the present file, as it is stored and as it is read
 * @throws SourceRefusal the new file is no source file, or it lacks a record type or takes keys from another column
 * @throws StoreRefusal the registry has no source
 */
export function checkSourceChange(
  { namespace, kind, source: before, awaits_records }: Registry,
  source: object,
): { readonly before: object; readonly former: SourceFile } {
  if (before === null) {
    throw new StoreRefusal(
      `the records of ${namespace} are in our own tables; add a registry at another namespace for those of a source`,
    )
  }
  const [former, wanted] = [readSourceFile(before, kind), readSourceFile(source, kind)]
  if (!isMirrorSource(before) || !isMirrorSource(source) || awaits_records) requireSameKeys(former, wanted)
  return { before, former }
}

/** Refuses a file that lacks a record type of the present file, or takes its keys from another column. @throws SourceRefusal */
function requireSameKeys({ records }: SourceFile, { records: wanted }: SourceFile): void {
  for (const name of records.keys()) {
    const at = ['records', name]
    if (!wanted.has(name)) throw makeRefusal(at, 'must stay, because ids of its records are kept')
  }
  for (const [name, { own }] of wanted) {
    const before = records.get(name)?.own.key ?? own.key
    if (before === own.key) continue
    const at = ['records', name, 'key']
    throw makeRefusal(
      at,
      `must stay ${before}, because ids of records are kept; a registry with another key is removed and added again`,
    )
  }
}

/** Makes empty tables for the copies of a mirror, and first drops tables that a former mirror has left. */
async function makeMirrorTables(db: Database, { id, kind }: Registry): Promise<void> {
  await dropLeftCopies(db, id)
  await ensureRecordTables(db, { id, kind, own_records: true })
}

/**
 * Stops the mirror. If its records were all copied, stored ids change to those of live records.
 * @param keeping the former source if its log is kept for us
 * @throws StoreRefusal it is not known to which row of the source each copy belongs
 */
async function stopCopying(client: ClientBase, registry: Registry, keeping: object | null): Promise<void> {
  const { id, namespace } = registry
  const ended = await endMirror(client, id, keeping)
  if (registry.awaits_records !== true) {
    if (ended === null || ended.isComparing || ended.file !== sourceFileDigest(registry)) {
      throw new StoreRefusal(
        `way: the records of ${namespace} are being compared with their source; they can be read live when rollcall source status ${namespace} says that it is followed`,
      )
    }
    await replaceStoredRecordIds(client, registry, 'live')
  }
  await leaveMirror(client, id)
}
