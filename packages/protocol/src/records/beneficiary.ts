/** The schema of a beneficiary (spec "Beneficiary record", public-standard.md 2.4). */
import Type from 'typebox'
import { demographics, situation } from './member.ts'
import { codeOf, Enrolment, Identifier, identifier, jsonLd, openObject, registration } from './parts.ts'

export const BeneficiaryMember = openObject('BeneficiaryMember', {
  ...jsonLd,
  member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
  demographic_info: openObject('BeneficiaryDemographicInfo', {
    ...jsonLd,
    person: openObject('BeneficiaryPerson', { ...demographics, ...identifier }),
  }),
  relationship_head: codeOf('relationship_type'),
  related_person: Type.Unknown(),
  disability_info: Type.Unknown(),
  ...situation,
  is_disabled: Type.Union([Type.Boolean(), Type.String()], { description: 'In the examples the string "0" or "1"' }),
  ...registration,
  programme_identifier: Type.Union([Enrolment, Type.Array(Enrolment)]),
})

export const Beneficiary = openObject('Beneficiary', {
  ...jsonLd,
  assistance_unit: codeOf('group_type'),
  member: BeneficiaryMember,
})
