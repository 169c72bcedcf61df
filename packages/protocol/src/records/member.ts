/**
 * The schema of a member: of an employment support system, of a social registry, and in events about beneficiaries
 * (spec "Member record").
 */
import Type from 'typebox'
import {
  AdditionalAttributes,
  Address,
  CalendarDate,
  codeSchema,
  DateTime,
  Identifier,
  jsonLdMembers,
  Name,
  partialObject,
  registrationTimes,
} from './parts.ts'

/**
 * The JSON members that describe a person in `DemographicInfo` and in a beneficiary. Other record types have other members for
 * a person.
 */
export const demographicMembers = {
  ...jsonLdMembers,
  identifier: Type.Array(Identifier),
  name: Name,
  sex: codeSchema('sex'),
  birth_date: CalendarDate,
  death_date: CalendarDate,
  address: Type.Union([Address, Type.Array(Address)]),
  phone_number: Type.Array(Type.String()),
  email: Type.Array(Type.String()),
  registration_date: DateTime,
}

export const DemographicInfo = partialObject('DemographicInfo', demographicMembers)

export const RelatedPerson = partialObject('RelatedPerson', {
  '@type': Type.String(),
  relationship_type: codeSchema('relationship_type'),
  related_member: partialObject('RelatedMember', {
    ...jsonLdMembers,
    member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
  }),
})

/** The JSON members for the circumstances of a person, such as work, income and education. */
export const personSituationMembers = {
  is_disabled: Type.Boolean(),
  marital_status: codeSchema('marital_status'),
  employment_status: codeSchema('employment_status'),
  occupation: codeSchema('occupation'),
  income_level: Type.String(),
  language_code: Type.Array(Type.String()),
  education_level: codeSchema('education_level'),
  additional_attributes: AdditionalAttributes,
}

/** The JSON members that a Member record has only in an employment support system (public-standard.md 2.5). */
const employment = {
  employment_info: Type.Array(
    partialObject('EmploymentInfo', {
      '@type': Type.String(),
      start_date: CalendarDate,
      end_date: CalendarDate,
      job_title: Type.String(),
      employer: Type.String(),
      employment_type: codeSchema('employment_type'),
    }),
  ),
  unemployment_reason: codeSchema('unemployment_reason'),
  enrolment_status: codeSchema('ess_enrolment_status'),
}

const memberProperties = {
  ...jsonLdMembers,
  member_identifier: Type.Array(Identifier),
  demographic_info: DemographicInfo,
  related_person: Type.Array(RelatedPerson),
  ...personSituationMembers,
  ...registrationTimes,
}

export const Member = partialObject('Member', memberProperties)

export const EmploymentMember = partialObject('Member', { ...memberProperties, ...employment })
