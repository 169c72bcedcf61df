/** The schema of a person in the disability registry (public-standard.md 2.7). */
import Type from 'typebox'
import {
  CalendarDate,
  codeSchema,
  Identifier,
  jsonLdMembers,
  Name,
  Programme,
  partialObject,
  registrationTimes,
} from './parts.ts'

const SupportOfDisabledPerson = partialObject('DisabilitySupport', {
  human_assistance: partialObject('HumanAssistance', {
    type: Type.String(),
    frequency: Type.String(),
    support_status: Type.String(),
    caregiver: Type.Unknown(),
    relationship: codeSchema('relationship_type'),
  }),
  assistive_technology: Type.Array(Type.Unknown()),
  housing_support: Type.Array(Type.Unknown()),
  medical_care: Type.Array(Type.Unknown()),
  animal_assistance: Type.Array(Type.Unknown()),
})

export const DisabledPerson = partialObject('DisabledPerson', {
  ...jsonLdMembers,
  personal_details: partialObject('PersonalDetails', {
    ...jsonLdMembers,
    identifier: Type.Array(Identifier),
    member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
    name: Name,
    date_of_birth: CalendarDate,
    gender: codeSchema('sex'),
  }),
  disability_status: codeSchema('disability_status'),
  disability_level: codeSchema('disability_level'),
  disability_details: Type.Array(
    partialObject('DisabilityDetails', {
      impairment_type: codeSchema('impairment_type'),
      impairment_level: codeSchema('impairment_level'),
      impairment_cause: codeSchema('impairment_cause'),
      age_on_set: codeSchema('impairment_onset'),
    }),
  ),
  disability_support: Type.Array(SupportOfDisabledPerson),
  transport_requirement: codeSchema('transport_requirement'),
  housing_type: codeSchema('housing_type'),
  programs_enrollments: Type.Array(Programme),
  ...registrationTimes,
})
