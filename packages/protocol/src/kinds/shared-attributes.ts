/**
 * Attributes that the records of several kinds have, as rows at the paths where a kind keeps them. The other
 * spellings of a key, such as `gender` for `sex`, are found by the walk and need no path of their own.
 */
import type { KeyedList } from './event-rules.ts'
import type { Attribute, CompoundMember } from './kind.ts'

/** `path` under each of the places, in order; the place "" is the record itself. */
export function pathsAt(places: readonly string[], ...paths: readonly string[]): string[] {
  return paths.flatMap((path) => places.map((place) => (place === '' ? path : `${place}.${path}`)))
}

/** The places of a person under which published queries name the members of a one-person record. */
export const PERSON_PREFIXES: readonly string[] = [
  ...['member.demographic_info.person', 'member.demographic_info', 'demographic_info.person'],
  ...['demographic_info', 'member'],
]

/** The times when a record was registered and last changed: indexed and sortable in every record type. */
export function registrationAttributes(places: readonly string[]): Attribute[] {
  return [
    {
      name: 'registration_date',
      paths: pathsAt(places, 'registration_date'),
      type: 'datetime',
      indexed: true,
      sortable: true,
    },
    { name: 'last_updated', paths: pathsAt(places, 'last_updated'), type: 'datetime', indexed: true, sortable: true },
  ]
}

/** The attributes of a person: name, sex, birth and death, and the age that follows from them. */
export function personAttributes(places: readonly string[]): Attribute[] {
  return [
    {
      name: 'surname',
      paths: pathsAt(places, 'name.surname'),
      type: 'text',
      fold: true,
      indexed: true,
      sortable: true,
    },
    {
      name: 'given_name',
      paths: pathsAt(places, 'name.given_name'),
      type: 'text',
      fold: true,
      indexed: true,
      sortable: true,
    },
    { name: 'sex', paths: pathsAt(places, 'sex'), type: 'code', codes: 'sex' },
    { name: 'birth_date', paths: pathsAt(places, 'birth_date'), type: 'date', indexed: true, sortable: true },
    { name: 'age', paths: [], type: 'age', since: 'birth_date', sortable: true },
    { name: 'death_date', paths: pathsAt(places, 'death_date'), type: 'date', sortable: true },
  ]
}

/** The attributes of an address: from the addresses under the places, then from `otherLocations`. */
export function addressAttributes(places: readonly string[], otherLocations: readonly string[] = []): Attribute[] {
  const addresses = pathsAt(places, 'address')
  return [
    {
      name: 'location',
      paths: [
        ...pathsAt(addresses, 'locality', 'city'),
        ...pathsAt(places, 'location'),
        ...otherLocations,
        ...additional('location'),
      ],
      type: 'text',
      fold: true,
      indexed: true,
    },
    {
      name: 'district',
      paths: [...pathsAt(addresses, 'sub_region_code'), ...pathsAt(places, 'district'), ...additional('district')],
      type: 'text',
      fold: true,
      indexed: true,
    },
    {
      name: 'region',
      paths: [...pathsAt(addresses, 'region_code'), ...pathsAt(places, 'region'), ...additional('region')],
      type: 'text',
      fold: true,
    },
    {
      name: 'postal_code',
      paths: [...pathsAt(addresses, 'postal_code'), ...additional('postal_code')],
      type: 'text',
      fold: true,
    },
  ]
}

/** The attributes of the life and work of a member. */
export function situationAttributes(places: readonly string[]): Attribute[] {
  return [
    { name: 'is_disabled', paths: pathsAt(places, 'is_disabled'), type: 'boolean' },
    maritalStatus(pathsAt(places, 'marital_status')),
    {
      name: 'employment_status',
      paths: pathsAt(places, 'employment_status'),
      type: 'code',
      codes: 'employment_status',
    },
    { name: 'occupation', paths: pathsAt(places, 'occupation'), type: 'code', codes: 'occupation' },
    { name: 'education_level', paths: pathsAt(places, 'education_level'), type: 'code', codes: 'education_level' },
    { name: 'income_level', paths: pathsAt(places, 'income_level'), type: 'text', fold: true },
  ]
}

export function maritalStatus(paths: readonly string[]): Attribute {
  return { name: 'marital_status', paths, type: 'code', codes: 'marital_status' }
}

/** A household's poverty score, which registries also write into their members. */
export const povertyScore: Attribute = {
  name: 'poverty_score',
  paths: ['poverty_score', ...additional('poverty_score')],
  type: 'number',
  indexed: true,
  sortable: true,
}

/** The programme of an enrolment. The programme is inside the enrolment, or in place of it. */
export const programmeMembers: readonly CompoundMember[] = [
  {
    name: 'programme_identifier',
    paths: ['programme.programme_identifier', 'programme_identifier'],
    type: 'text',
    fold: true,
  },
  { name: 'programme_name', paths: ['programme.programme_name', 'programme_name'], type: 'text', fold: true },
]

/** A list of identifiers, each with its type and value as the key. */
export function identifierList(paths: readonly string[]): KeyedList {
  return { name: 'identifier', paths, identifiers: [''] }
}

/** A list of enrolments. The key of each is the identifier of its programme, which may be in place of the enrolment. */
export function programmeList(paths: readonly string[]): KeyedList {
  return { name: 'programme', paths, values: ['programme.programme_identifier', 'programme_identifier', ''] }
}

function additional(name: string): string[] {
  return [`additional_attributes.${name}`]
}
