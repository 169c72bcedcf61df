/** Checks that a column mapping writes the primary identifier of records. */
import type { RecordType } from '@rollcall/protocol'
import type { ColumnMapping, KindAndRecordTypes } from './column-mapping.ts'
import { ImportError } from './import-error.ts'
import { findRecordPath } from './record-paths.ts'

/** Refuses a mapping that writes the primary identifier of none of the record types. @throws ImportError */
export function refuseMappingWithoutPrimary(mapping: ColumnMapping, { recordTypes }: KindAndRecordTypes): void {
  if (recordTypes.some((recordType) => hasPrimaryIdentifier(mapping, recordType))) return
  const missing = recordTypes.map(
    (recordType) => `${primaryIdentifierPath(recordType)}, by which the registry knows a ${recordType.name}`,
  )
  throw new ImportError(
    `the column mapping has no ${missing.join(', and no ')}; map the column that has it, or name another type with rollcall registry set --primary before the first import`,
  )
}

/**
 * True when a target writes the primary identifier: its path has the identifier type in brackets, such as `identifier[UIN]`; or
 * values at its path always have this type; or the path ends with `identifier_value`, and another column may have the type.
 */
const hasPrimaryIdentifier = ({ targets }: ColumnMapping, recordType: RecordType): boolean =>
  targets.some(({ steps, reads }) => {
    const place = findRecordPath(recordType, steps.map(({ key }) => key).join('.'))
    if (place === undefined) return false
    return reads.includes(recordType.primary_identifier) || place.path.endsWith('.identifier_value')
  })

function primaryIdentifierPath({ identifiers, primary_identifier }: RecordType): string {
  const own = identifiers.find(({ names, type }) => names === 'record' && type === primary_identifier)
  return `${own?.path ?? 'identifier'}[${primary_identifier}]`
}
