/** Records in memory, for tests: a source that is not our own tables, and that nothing of ours writes. Its ids are texts. */

import type { Protection } from '@rollcall/core/model/protection'
import type { RetiredRecordDocument } from '@rollcall/core/model/record-source'
import type { RegistryShape } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { type JsonObject, type RecordType, recordTypesOf } from '@rollcall/protocol'
import { prepareRecord } from '@rollcall/records/records/prepare-record'
import { readProtection } from '@rollcall/records/records/protection'
import type { RegistryRecords } from '@rollcall/records/records/registry-records'
import { makeSourceReader, type SearchCandidateSource, type SourceRecord } from '../../core/src/policy/guarded-records.ts'

interface Held extends SourceRecord {
  readonly recordType: string
  readonly primary: string
}

export interface MemoryRecords extends RegistryRecords {
  /** Writes a record, or replaces the one with its primary identifier. */
  put(registry: RegistryShape, document: object, merged?: readonly object[]): SourceRecord
  remove(primary: string): void
}

/** Records that are read by the rules of core alone. Candidates are all records: none is left out before core decides. */
export function memoryRecords(db: Pick<Database, 'pool'>, portion = 3): MemoryRecords {
  let held: Held[] = []
  const ofType = ({ name }: RecordType): readonly Held[] => held.filter(({ recordType }) => recordType === name)
  const source: SearchCandidateSource = {
    async *candidates(_registry, recordType, _predicate, after) {
      const all = ofType(recordType)
      for (let at = all.findIndex(({ id }) => id === after) + 1; at < all.length; at += portion) {
        const records = all.slice(at, at + portion)
        yield { records, rows: records.length }
      }
    },
    async read(_registry, recordType, ids) {
      const all = ofType(recordType)
      return ids.flatMap((id) => all.find((one) => one.id === id) ?? [])
    },
  }
  const protectionOf = (registry: RegistryShape): Promise<Protection> => readProtection(db.pool as never, registry.id)
  const reader = makeSourceReader(source, protectionOf)
  return {
    source: { reader: () => reader, session: (work) => work(reader) },
    within: () => reader,
    sink: null,
    put(registry, document, merged = []) {
      const [recordType] = recordTypesOf(registry.kind, document as JsonObject)
      if (recordType === undefined) throw new Error('no such record type')
      const { primary_identifier: primary, document: text } = prepareRecord(registry.kind, recordType, document as never)
      const id = `${recordType.name}/"${primary}"`
      const others = merged.map((one, at): RetiredRecordDocument => {
        return { id: `${id}\\${at}`, document: prepareRecord(registry.kind, recordType, one as never).document }
      })
      const record = { id, document: text, merged: others, written: new Date(), recordType: recordType.name, primary }
      const at = held.findIndex((one) => one.id === id)
      held = at < 0 ? [...held, record] : held.with(at, record)
      return record
    },
    remove(primary) {
      held = held.filter((one) => one.primary !== primary)
    },
  }
}
