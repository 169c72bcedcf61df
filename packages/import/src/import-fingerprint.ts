/** The fingerprint of an import. An interrupted import continues only with the same file, read in the same way. */
import { createHash } from 'node:crypto'
import { resolve } from 'node:path'
import { canonicalJson, type RecordType } from '@rollcall/protocol'
import type { FormatName, FormatOptions } from './formats.ts'
import type { ImportSource } from './source.ts'

/** The version of the stored counts. Increase it when their form changes: interrupted imports then begin anew. */
const REPORT_COUNTS_VERSION = 3

type ReadingOptions = Pick<FormatOptions, 'mapping' | 'delimiter' | 'encoding' | 'header'> & { readonly lenient?: boolean }

/**
 * The digest of a source and of the options for reading it, in hexadecimal; null when the source is a stream: its import cannot
 * be resumed.
 */
export function importFingerprint(
  source: ImportSource,
  format: FormatName,
  recordType: RecordType | null,
  { mapping, delimiter, encoding, header, lenient }: ReadingOptions,
  rejectsPath: string | null,
): string | null {
  if (source.identity === null) return null
  const read = {
    source: source.identity,
    format,
    record_type: recordType?.name,
    mapping,
    delimiter,
    encoding,
    header,
    lenient: lenient === true,
    // With another rejects file, the import begins anew: that file does not have the rejects before the interruption.
    rejects: rejectsPath === null ? null : resolve(rejectsPath),
    // The version is part of the identity: an import must not continue with counts that were stored in another form.
    report: REPORT_COUNTS_VERSION,
  }
  return createHash('sha256').update(canonicalJson(read)).digest('hex')
}
