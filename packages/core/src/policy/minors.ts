/** Rules of grants that exclude minors. A person of a record or relation without a birth date counts as a minor. */
import { type Kind, type OtherPerson, type RecordType, readAttribute } from '@rollcall/protocol'
import { leavesOf, type Predicate } from '../model/predicate.ts'
import type { Registry } from '../model/registry.ts'
import { matches } from '../query/memory/matches.ts'
import { replaceAgesByDates } from '../query/resolve-ages.ts'

/** A predicate that is true only when the record's person is certainly an adult; null when the records have no age. */
export function adultPredicate(
  recordType: RecordType,
  { majority_age }: Pick<Registry, 'majority_age'>,
  day: string,
): Predicate | null {
  const age = recordType.attributes.find(({ type, since }) => type === 'age' && since === 'birth_date')
  if (age === undefined) return null
  return replaceAgesByDates({ is: 'compare', attribute: age, operator: 'ge', value: majority_age }, recordType, day)
}

/**
 * True when another person in a record is a minor, or may be one, such as when the birth date is missing. False for a person in
 * no relation of the kind.
 */
export function isMinor({ record, relation }: OtherPerson, registry: Pick<Registry, 'majority_age'>, day: string): boolean {
  if (relation === null) return false
  const adult = record && adultPredicate(record.recordType, registry, day)
  const date = record?.recordType.attributes.find(({ name }) => name === 'birth_date')
  const born = date && record && readAttribute(date, record.document)
  if (adult === null || date === undefined || born === undefined || born === null) return true
  return !matches(adult, { values: new Map([[date.name, born]]), elements: new Map(), identifiers: new Map() })
}

/**
 * The kind without lists of other persons in a record, without attributes that count these persons, and without attributes that
 * an operator added within the data of these persons: answers about them would include minors.
 */
export function withoutPersonLists(kind: Kind): Kind {
  const [first, ...others] = kind.record_types.map((recordType) => {
    const { relations = [], attributes, compounds = [] } = recordType
    const places = relations.flatMap(({ paths, entries = paths }) => entries)
    const counts = new Set(relations.flatMap(({ counted_by }) => counted_by ?? []))
    const isOfOthers = (path: string): boolean => places.some((place) => `${path}.`.startsWith(`${place}.`))
    return {
      ...recordType,
      attributes: attributes.filter(({ name, paths }) => !counts.has(name) && !paths.some(isOfOthers)),
      compounds: compounds.filter(({ paths }) => !paths.some(isOfOthers)),
    }
  })
  return first === undefined ? kind : { ...kind, record_types: [first, ...others] }
}

/**
 * True when a query may find records by identifiers of the persons in them, such as a household by its members.
 * @param recordType the record type, reduced to what may be asked about
 */
export function mayFindRecordByItsPersons({ identifiers, primary_identifier }: RecordType, predicate: Predicate): boolean {
  if (!identifiers.some(({ names }) => names === 'part')) return false
  return leavesOf(predicate).some((leaf) => {
    if (leaf.is === 'identifier') return leaf.identifiers.some(({ type }) => type !== primary_identifier)
    return leaf.is === 'identifier_type' && leaf.types.some((type) => type !== primary_identifier)
  })
}
