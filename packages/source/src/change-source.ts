/**
 * Replaces the source file of a registry. A source file says in which database the records are, how its rows become records, and
 * whether searches read the database (live), or a mirror copies the records and follows their changes.
 */

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
import type { GivenSourceFile } from './file-schema.ts'
import { readSourceFile } from './source-file.ts'
import { beginMirror, dropFormerMirrorCopies, endMirror, endMirrorClaimAndNoteLogPlace } from './store/changed-sources.ts'
import { sourceFileDigest } from './store/mirrors.ts'
import { replaceStoredRecordIds } from './store/moved-records.ts'

/**
 * Stores another source file. A mirror that becomes live is read live at once. A mirror that stays a mirror answers from its old
 * copies, until a comparison with the source by the new file has replaced them in portions. A registry that was read live and
 * becomes a mirror answers nothing until its records are copied.
 * @throws SourceRefusal, StoreRefusal as `checkSourceChange`; or the copies are still being compared with the source, or
 * somebody else has changed the source file
 */
export async function changeSource(db: Database, registry: Registry, source: object): Promise<void> {
  const { id, namespace } = registry
  const before = checkSourceChange(registry, source)
  // The former file, if its mirror followed PostgreSQL's log: then housekeeping must drop the replication slot in that database.
  const keeping = before.follow === 'logical' ? before : null
  const [wasCopied, isCopy] = [isMirrorSource(before), isMirrorSource(source)]
  if (!wasCopied && isCopy) await makeMirrorTables(db, registry)
  await withTransaction(db.pool, async (client) => {
    // The statements have no time limit, because the record ids in all events and stored pages of the registry may change.
    await client.query(NO_STATEMENT_TIMEOUT_SQL)
    await lockRegistryFor(client, id, 'exclusive change')
    const awaits_records = isCopy && (!wasCopied || registry.awaits_records === true)
    // Live records and copies have different ids, which events and stored pages of answers contain. After this update, searches
    // store only ids of the new sort. Ids stored before are replaced: by ids of live records in `stopCopyingRecords`, or by ids
    // of copies when the first comparison has ended. Until then `awaits_records` is true.
    if (!(await storeSource(client, registry, { source, own_records: isCopy, awaits_records }))) {
      throw new StoreRefusal(`the source of ${namespace} was changed by somebody else meanwhile; look at it again`)
    }
    if (wasCopied && !isCopy) await stopCopyingRecords(client, registry, keeping)
    else if (wasCopied) await endMirrorClaimAndNoteLogPlace(client, id, keeping)
    else if (isCopy) await beginMirror(client, id)
  })
}

/**
 * Checks that a registry may get another source file. The key columns may change only if the registry is a mirror before and
 * after the change, and all its records are copied. Otherwise they must stay: the ids of live records are made from the keys.
 * @returns the present source file as it is stored. It is not checked: it may map a name that the kind has no longer
 * @throws SourceRefusal the new file is no source file, or it lacks a record type or takes keys from another column
 * @throws StoreRefusal the registry has no source
 */
export function checkSourceChange(
  { namespace, kind, source: before, awaits_records }: Registry,
  source: object,
): GivenSourceFile {
  if (before === null) {
    throw new StoreRefusal(
      `the records of ${namespace} are in our own tables; add a registry at another namespace for those of a source`,
    )
  }
  // The cast is safe: a source file is checked before it is stored.
  const former = before as GivenSourceFile
  const wanted = readSourceFile(source, kind)
  if (!isMirrorSource(before) || !isMirrorSource(source) || awaits_records) requireSameKeys(former, wanted)
  return former
}

/** Refuses a file that lacks a record type of the present file, or takes its keys from another column. @throws SourceRefusal */
function requireSameKeys({ records }: GivenSourceFile, { records: wanted }: SourceFile): void {
  for (const name of Object.keys(records)) {
    const at = ['records', name]
    if (!wanted.has(name)) throw makeRefusal(at, 'must stay, because ids of its records are kept')
  }
  for (const [name, { own }] of wanted) {
    const before = records[name]?.key ?? own.key
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
  await dropFormerMirrorCopies(db, id)
  await ensureRecordTables(db, { id, kind, own_records: true })
}

/**
 * Stops the mirror. If its records were all copied, stored ids change to those of live records.
 * @param keeping the former source file if its database keeps its log for us; otherwise null
 * @throws StoreRefusal it is not known to which row of the source each copy belongs
 */
async function stopCopyingRecords(client: ClientBase, registry: Registry, keeping: object | null): Promise<void> {
  const { id, namespace } = registry
  const ended = await endMirrorClaimAndNoteLogPlace(client, id, keeping)
  if (registry.awaits_records !== true) {
    if (ended === null || ended.isComparing || ended.file !== sourceFileDigest(registry)) {
      throw new StoreRefusal(
        `way: the records of ${namespace} are being compared with their source; they can be read live when rollcall source status ${namespace} says that it is followed`,
      )
    }
    await replaceStoredRecordIds(client, registry, 'live')
  }
  await endMirror(client, id)
}
