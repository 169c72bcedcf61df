/** The schema of a person in the civil registry (spec "Civil person record", public-standard.md 2.3). */
import Type from 'typebox'
import {
  Address,
  CalendarDate,
  codeSchema,
  Identifier,
  jsonLdMembers,
  Name,
  Place,
  partialObject,
  registrationTimes,
} from './parts.ts'

export const Person = partialObject('Person', {
  ...jsonLdMembers,
  identifier: Type.Array(Identifier),
  name: Name,
  phone_number: Type.Array(Type.String()),
  email: Type.Array(Type.String()),
  sex: codeSchema('sex'),
  birth_date: CalendarDate,
  birth_place: Place,
  death_date: CalendarDate,
  death_place: Type.Union([Type.String(), Place]),
  address: Type.Union([Address, Type.Array(Address)]),
  marital_status: codeSchema('marital_status'),
  marriage_date: Type.Union([CalendarDate, Type.Array(CalendarDate)]),
  divorce_date: Type.Union([CalendarDate, Type.Array(CalendarDate)]),
  parent1_identifier: Identifier,
  parent2_identifier: Identifier,
  ...registrationTimes,
})
