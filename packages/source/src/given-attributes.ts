/** Leaves out attributes for which a source has no column, so that rows are not searched for them. */

import { oncePerObject } from '@rollcall/core/model/once-per'
import { type Compound, type JsonObject, memberNamed, type RecordType } from '@rollcall/protocol'
import type { RecordMapping } from './engine/mapped-records.ts'

/**
 * Returns the mapping with fewer attributes and lists in its record type. An attribute or list stays if a column or a constant
 * of the mapping gives the first member of one of its paths.
 */
export const omitUnmappedAttributes = oncePerObject((records: RecordMapping): RecordMapping => {
  const { recordType, targets } = records
  // The document of a record has the members with which mapped paths begin, and no others.
  const keys = targets.flatMap(({ steps }) => steps.slice(0, 1).map(({ key }) => key))
  const document: JsonObject = Object.fromEntries(keys.map((key) => [key, 'x']))
  const isIn = (path: string): boolean => {
    const [first = ''] = path.split('.', 1)
    return first !== '' && memberNamed(document, first) !== undefined
  }
  const { attributes, compounds } = recordType
  const given: RecordType = {
    ...recordType,
    attributes: attributes.filter(({ paths }) => paths.some(isIn)),
    ...(compounds !== undefined && { compounds: compounds.filter((one) => mayHaveElement(one, isIn)) }),
  }
  return { ...records, recordType: given }
})

/**
 * True when the mapping may give an element of the list. At the empty path the record itself is the element: then the mapping
 * must give a value for one of the members. `isIn` is true for a path of the record at which the mapping may give a value.
 */
const mayHaveElement = ({ paths, members }: Compound, isIn: (path: string) => boolean): boolean =>
  paths.some((path) =>
    path === '' ? members.some((member) => [...member.paths, ...(member.record_paths ?? [])].some(isIn)) : isIn(path),
  )
