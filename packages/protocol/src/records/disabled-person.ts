/** The schema of a person in the disability registry (public-standard.md 2.7). */
import Type from 'typebox'
import { CalendarDate, codeOf, Identifier, jsonLd, Name, Programme, partialObject, registration } from './parts.ts'

const Support = partialObject('DisabilitySupport', {
  human_assistance: partialObject('HumanAssistance', {
    type: Type.String(),
    frequency: Type.String(),
    support_status: Type.String(),
    caregiver: Type.Unknown(),
    relationship: codeOf('relationship_type'),
  }),
  assistive_technology: Type.Array(Type.Unknown()),
  housing_support: Type.Array(Type.Unknown()),
  medical_care: Type.Array(Type.Unknown()),
  animal_assistance: Type.Array(Type.Unknown()),
})

export const DisabledPerson = partialObject('DisabledPerson', {
  ...jsonLd,
  personal_details: partialObject('PersonalDetails', {
    ...jsonLd,
    identifier: Type.Array(Identifier),
    member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
    name: Name,
    date_of_birth: CalendarDate,
    gender: codeOf('sex'),
  }),
  disability_status: codeOf('disability_status'),
  disability_level: codeOf('disability_level'),
  disability_details: Type.Array(
    partialObject('DisabilityDetails', {
      impairment_type: codeOf('impairment_type'),
      impairment_level: codeOf('impairment_level'),
      impairment_cause: codeOf('impairment_cause'),
      age_on_set: codeOf('impairment_onset'),
    }),
  ),
  disability_support: Type.Array(Support),
  transport_requirement: codeOf('transport_requirement'),
  housing_type: codeOf('housing_type'),
  programs_enrollments: Type.Array(Programme),
  ...registration,
})
