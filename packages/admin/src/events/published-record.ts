/** Writes a published record: as a new one, or merged into the stored one. */

import { type ElementsToRemoveByPath, MergeProblem, mergeIntoSurvivor } from '@rollcall/core/events/merge'
import type { RecordChange } from '@rollcall/core/model/event'
import type { Identifier } from '@rollcall/core/model/records'
import type { Registry } from '@rollcall/core/model/registry'
import { sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import { lockPublication, storeRecordSourceVersion } from '@rollcall/delivery/store/events/published'
import { canonicalJson, isJsonObject, type JsonObject, type JsonValue, type RecordType } from '@rollcall/protocol'
import {
  InvalidRecord,
  type PreparedRecord,
  prepareExternalRecord,
  prepareRecord,
} from '@rollcall/records/records/prepare-record'
import type { RecordSink } from '@rollcall/records/records/record-sink'
import type { LockedRecord } from '@rollcall/records/records/record-writer'
import type { ClientBase } from 'pg'
import { AdminRefusal } from '../admin-function.ts'

export interface RecordToPublish {
  readonly recordType: RecordType
  /** The whole record if `replace` is true; otherwise the members to merge into the stored record, if there is one. */
  readonly record: JsonObject
  readonly replace: boolean
  readonly remove?: ElementsToRemoveByPath
  readonly source_version?: number
}

/**
 * Writes the record, unless a newer version is stored, and returns what changed. If the record was merged into another one, that
 * other record is changed. Runs in the caller's transaction.
 * @throws AdminRefusal
 */
export async function writePublishedRecord(
  client: ClientBase,
  sink: RecordSink,
  registry: Registry,
  published: RecordToPublish,
): Promise<RecordChange> {
  const { recordType, record, source_version } = published
  const { primary_identifier } = prepareRecordOrRefuse(registry, recordType, record, prepareExternalRecord)
  const record_type = recordType.name
  // Transactions that publish the same record run one after another, even if it is new and has no row to lock.
  await lockPublication(client, registry.id, `record ${record_type} ${primary_identifier}`)
  const stored = await sink.lockRecord(client, registry, recordType, primary_identifier)
  const isRetired = stored !== null && stored.primary_identifier !== primary_identifier
  if (isRetired && published.replace) {
    throw new AdminRefusal(
      'replace: the record was merged into another one, which is replaced under its own primary identifier alone',
    )
  }
  const isNewest =
    source_version === undefined ||
    (await storeRecordSourceVersion(client, registry.id, { record_type, primary_identifier, source_version }))
  if (stored !== null && !isNewest) {
    const { id, document, aliases } = stored
    const unwritten = unwrittenRecordText(registry, published, document, isRetired ? aliases : [])
    return { record_type, record: id, before: document, after: document, unwritten, aliases }
  }
  return mergeAndWriteRecord(client, sink, registry, published, stored, isRetired)
}

async function mergeAndWriteRecord(
  client: ClientBase,
  sink: RecordSink,
  registry: Registry,
  published: RecordToPublish,
  stored: LockedRecord | null,
  isRetired: boolean,
): Promise<RecordChange> {
  const { recordType } = published
  const aliases = stored?.aliases ?? []
  const mergeInto = (before: string | null): PreparedRecord =>
    prepareRecordOrRefuse(registry, recordType, mergeIntoStoredRecord(registry, published, before, isRetired ? aliases : []))
  const writeOne = async (record: PreparedRecord) => {
    const { inserted, updated } = await sink
      .writeRecords(client, registry, recordType, [record], { before: true })
      .catch(throwDataRefusal)
    const [written] = [...inserted, ...updated]
    if (written === undefined) throw new Error('a record was not written')
    return written
  }
  const known = stored?.document ?? null
  const first = mergeInto(known)
  const { id, before = null } = await writeOne(first)
  // If an import has added the record meanwhile, merge again: the record is locked now.
  const after = before === known ? first : mergeInto(before)
  if (after !== first) await writeOne(after)
  return { record_type: recordType.name, record: id, before, after: after.document, aliases }
}

/**
 * The text of a published record that is not written, because a newer version is stored: merged into the stored record
 * where that is possible, otherwise as it was published.
 */
function unwrittenRecordText(
  registry: Registry,
  published: RecordToPublish,
  before: string,
  aliases: readonly Identifier[],
): string {
  try {
    return canonicalJson(mergeIntoStoredRecord(registry, published, before, aliases))
  } catch (error) {
    if (error instanceof AdminRefusal) return canonicalJson(published.record)
    throw error
  }
}

function mergeIntoStoredRecord(
  { kind }: Registry,
  { recordType, record, replace, remove }: RecordToPublish,
  before: string | null,
  aliases: readonly Identifier[],
): JsonObject {
  if (replace) return record
  const read: JsonValue = before === null ? {} : JSON.parse(before)
  const [scope, stored] = [{ kind, recordType }, isJsonObject(read) ? read : {}]
  try {
    return mergeIntoSurvivor(scope, stored, record, aliases, remove)
  } catch (error) {
    throw error instanceof MergeProblem ? new AdminRefusal(error.message, { cause: error }) : error
  }
}

function prepareRecordOrRefuse(
  { kind }: Registry,
  recordType: RecordType,
  record: JsonObject,
  prepare = prepareRecord,
): PreparedRecord {
  try {
    return prepare(kind, recordType, record)
  } catch (error) {
    throw error instanceof InvalidRecord ? new AdminRefusal(`record: ${error.reason}`, { cause: error }) : error
  }
}

/** Refuses data that the database cannot store. The database's message is left out: it would quote the value. */
function throwDataRefusal(error: unknown): never {
  const state = sqlStateOrSystemCode(error)
  if (!/^(22|54)/.test(state)) throw error
  throw new AdminRefusal(`record: the database cannot store one of its values (SQLSTATE ${state})`)
}
