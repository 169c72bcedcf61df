/**
 * Attributes that several kinds have. Other spellings of a name, such as `gender` for `sex`, are found without paths of
 * their own.
 */
import type { KeyedList } from './event-rules.ts'
import type { Attribute, CompoundMember } from './kind.ts'

/** Joins places and paths: all places with the first path, then with the next. The place "" is the record itself. */
export function pathsAt(places: readonly string[], ...paths: readonly string[]): string[] {
  return paths.flatMap((path) => places.map((place) => (place === '' ? path : `${place}.${path}`)))
}

/** The prefixes that published queries write before attributes of a person, such as `member` in `member.birth_date`. */
export const PERSON_QUERY_PREFIXES: readonly string[] = [
  ...['member.demographic_info.person', 'member.demographic_info', 'demographic_info.person'],
  ...['demographic_info', 'member'],
]

/** The times at which a record was registered and last changed, as attributes. Both are indexed and sortable. */
export function registrationAttributes(places: readonly string[]): Attribute[] {
  return [
    { name: 'registration_date', paths: pathsAt(places, 'registration_date'), type: 'datetime', indexed: true, sortable: true },
    { name: 'last_updated', paths: pathsAt(places, 'last_updated'), type: 'datetime', indexed: true, sortable: true },
  ]
}

/** The attributes of a person: name, sex, birth, death and age. */
export function personAttributes(places: readonly string[]): Attribute[] {
  return [
    { name: 'surname', paths: pathsAt(places, 'name.surname'), type: 'text', fold: true, indexed: true, sortable: true },
    { name: 'given_name', paths: pathsAt(places, 'name.given_name'), type: 'text', fold: true, indexed: true, sortable: true },
    { name: 'sex', paths: pathsAt(places, 'sex'), type: 'code', codes: 'sex' },
    { name: 'birth_date', paths: pathsAt(places, 'birth_date'), type: 'date', indexed: true, sortable: true },
    { name: 'age', paths: [], type: 'age', since: 'birth_date', sortable: true },
    { name: 'death_date', paths: pathsAt(places, 'death_date'), type: 'date', sortable: true },
  ]
}

/**
 * The attributes location, district, region and postal code. They are read first from `address` of the objects at `places`, then
 * from the objects themselves (except the postal code), then at `otherLocations` (only the location), and last from
 * `additional_attributes`.
 */
export function addressAttributes(places: readonly string[], otherLocations: readonly string[] = []): Attribute[] {
  const addresses = pathsAt(places, 'address')
  return [
    {
      name: 'location',
      paths: [
        ...pathsAt(addresses, 'locality', 'city'),
        ...pathsAt(places, 'location'),
        ...otherLocations,
        ...additionalAttributePaths('location'),
      ],
      type: 'text',
      fold: true,
      indexed: true,
    },
    {
      name: 'district',
      paths: [...pathsAt(addresses, 'sub_region_code'), ...pathsAt(places, 'district'), ...additionalAttributePaths('district')],
      type: 'text',
      fold: true,
      indexed: true,
    },
    {
      name: 'region',
      paths: [...pathsAt(addresses, 'region_code'), ...pathsAt(places, 'region'), ...additionalAttributePaths('region')],
      type: 'text',
      fold: true,
    },
    {
      name: 'postal_code',
      paths: [...pathsAt(addresses, 'postal_code'), ...additionalAttributePaths('postal_code')],
      type: 'text',
      fold: true,
    },
  ]
}

/** Attributes of a person: disability, marital status, work, education and income. */
export function personSituationAttributes(places: readonly string[]): Attribute[] {
  return [
    { name: 'is_disabled', paths: pathsAt(places, 'is_disabled'), type: 'boolean' },
    maritalStatus(pathsAt(places, 'marital_status')),
    { name: 'employment_status', paths: pathsAt(places, 'employment_status'), type: 'code', codes: 'employment_status' },
    { name: 'occupation', paths: pathsAt(places, 'occupation'), type: 'code', codes: 'occupation' },
    { name: 'education_level', paths: pathsAt(places, 'education_level'), type: 'code', codes: 'education_level' },
    { name: 'income_level', paths: pathsAt(places, 'income_level'), type: 'text', fold: true },
  ]
}

export function maritalStatus(paths: readonly string[]): Attribute {
  return { name: 'marital_status', paths, type: 'code', codes: 'marital_status' }
}

/** The poverty score of a household. It may also be in the records of the persons in the household. */
export const povertyScore: Attribute = {
  name: 'poverty_score',
  paths: ['poverty_score', ...additionalAttributePaths('poverty_score')],
  type: 'number',
  indexed: true,
  sortable: true,
}

/**
 * The attributes of an enrolment's programme. Their values are in the enrolment's member `programme`, or in the enrolment itself.
 */
export const programmeAttributes: readonly CompoundMember[] = [
  { name: 'programme_identifier', paths: ['programme.programme_identifier', 'programme_identifier'], type: 'text', fold: true },
  { name: 'programme_name', paths: ['programme.programme_name', 'programme_name'], type: 'text', fold: true },
]

/** A list of identifiers. The key of an element is its type and value. */
export function identifierKeyedList(paths: readonly string[]): KeyedList {
  return { name: 'identifier', paths, identifiers: [''] }
}

/**
 * A list of enrolments. The key of an element is the identifier of its programme. An element may also be only this identifier.
 */
export function programmeKeyedList(paths: readonly string[]): KeyedList {
  return { name: 'programme', paths, values: ['programme.programme_identifier', 'programme_identifier', ''] }
}

function additionalAttributePaths(name: string): string[] {
  return [`additional_attributes.${name}`]
}
