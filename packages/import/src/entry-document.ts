/** The document of one entry of a source. */
import { isUtf8 } from 'node:buffer'
import { JsonError, type JsonValue, type Kind, parseJson } from '@rollcall/protocol'
import { InvalidRecord } from '@rollcall/records/records/prepare-record'
import { isMemberName } from './record-paths.ts'
import type { SourceEntry } from './source.ts'

/**
 * Returns the JSON document of an entry.
 * @param kinds whose records the entry may be; the reason of an error shows only their member names
 * @throws InvalidRecord the entry has a problem, or is no JSON in UTF-8
 */
export function entryDocument(entry: SourceEntry, kinds: readonly Kind[]): JsonValue {
  if ('problem' in entry) throw new InvalidRecord(entry.problem)
  if ('document' in entry) return entry.document
  if (!isUtf8(entry.text))
    throw new InvalidRecord('the record is not in UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8 FILE > NEW-FILE')
  try {
    return parseJson(entry.text.toString('utf8'), { isShownName: (name) => isMemberName(kinds, name) })
  } catch (error) {
    if (error instanceof JsonError) throw new InvalidRecord(error.message)
    throw error
  }
}
