/**
 * Parts of the schemas of records (spec "Record shapes", public-standard.md 2.1). Records are not checked against them, and
 * nothing in them is required. Documentation, grants, GraphQL and the reports of imports take from them which members are known.
 */
import Type, { type TProperties } from 'typebox'
import { CODE_LISTS, type Code, type CodeListName } from './code-lists.ts'

/** The schema of an object without required members. */
export function partialObject<Properties extends TProperties>(title: string, properties: Properties) {
  return Type.Partial(Type.Object(properties), { title })
}

/** The schema of a code from a list; other values are allowed too. */
export function codeSchema(list: CodeListName) {
  const codes: readonly Code[] = CODE_LISTS[list]
  const meanings = codes.map(([code, label]) => (code === label ? code : `${code} ${label}`))
  return Type.String({ description: `A code of the list ${list}: ${meanings.join(', ')}` })
}

/** A calendar day as written: it may be a part of a date, or have a time of day. */
export const CalendarDate = Type.String({
  description: 'A calendar day as written: 1985-06-12, 1985-06, 1985, 12.06.1985 or a date-time',
})

export const DateTime = Type.String({ description: 'A date-time; without a zone it is read as UTC' })

/** Members that any JSON-LD object may have. */
export const jsonLdMembers = { '@id': Type.String(), '@type': Type.String() }

/** The two members of an identifier. */
export const identifier = { identifier_type: Type.String({ description: 'Such as UIN or BRN' }), identifier_value: Type.String() }

export const Identifier = partialObject('Identifier', { ...jsonLdMembers, ...identifier })

/**
 * A name. Records of some kinds (ibr, disability, farmer) may have `first_name` and `last_name` in place of `given_name` and
 * `surname`.
 */
export const Name = partialObject('Name', {
  '@type': Type.String(),
  surname: Type.String(),
  given_name: Type.String(),
  second_name: Type.String(),
  maiden_name: Type.String(),
  prefix: Type.String(),
  suffix: Type.String(),
  first_name: Type.String(),
  last_name: Type.String(),
})

/** Coordinates in decimal degrees; some registries write them as strings. */
export const GeoCoordinates = partialObject('GeoCoordinates', {
  '@type': Type.String(),
  latitude: Type.Union([Type.Number(), Type.String()]),
  longitude: Type.Union([Type.Number(), Type.String()]),
})

export const GeoLocation = partialObject('GeoLocation', {
  '@type': Type.String(),
  plus_code: partialObject('PlusCode', {
    '@type': Type.String(),
    global_code: Type.String(),
    geometry: partialObject('Geometry', {
      '@type': Type.String(),
      bounds: partialObject('Bounds', { northeast: GeoCoordinates, southwest: GeoCoordinates }),
      location: GeoCoordinates,
    }),
  }),
})

/** An address. The last three members are for the addresses of social registries. */
export const Address = partialObject('Address', {
  ...jsonLdMembers,
  address_line1: Type.String(),
  address_line2: Type.String(),
  locality: Type.String(),
  sub_region_code: Type.String(),
  region_code: Type.String(),
  postal_code: Type.String(),
  country_code: Type.String(),
  geo_location: GeoLocation,
  street_address: Type.String(),
  city: Type.String(),
  country: Type.String(),
})

const placeMembers = {
  ...jsonLdMembers,
  name: Type.String(),
  address: Type.Union([Type.String(), Address]),
  address_line: Type.String(),
  geo: GeoCoordinates,
}

export const Place = partialObject('Place', {
  ...placeMembers,
  contained_in_place: Type.String(),
  contains_place: Type.Array(partialObject('ContainedPlace', placeMembers)),
})

export const Programme = partialObject('Programme', {
  '@type': Type.String(),
  programme_identifier: Type.String(),
  programme_name: Type.String(),
})

export const Benefit = partialObject('Benefit', {
  '@type': Type.String(),
  benefit_type: codeSchema('benefit_type'),
  benefit_date: CalendarDate,
  benefit_value: Type.String(),
  benefit_frequency: Type.Union([Type.String(), partialObject('BenefitFrequency', { freq: Type.String() })]),
})

/** An enrolment of a beneficiary in a programme. */
export const Enrolment = partialObject('Enrolment', {
  '@type': Type.String(),
  programme: Programme,
  enrolment_date: CalendarDate,
  enrolment_status: codeSchema('ibr_enrolment_status'),
  status_change_date: CalendarDate,
  benefits: Benefit,
})

/** Attributes that a registry has beyond the documented ones. */
export const AdditionalAttributes = Type.Array(Type.Record(Type.String(), Type.Unknown()))

/** The times at which a record was registered and last changed. */
export const registrationTimes = { registration_date: DateTime, last_updated: DateTime }
