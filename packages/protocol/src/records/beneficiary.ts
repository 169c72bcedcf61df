/** The schema of a beneficiary (spec "Beneficiary record", public-standard.md 2.4). */
import Type from 'typebox'
import { demographics, situation } from './member.ts'
import { codeOf, Enrolment, Identifier, identifier, jsonLd, partialObject, registration } from './parts.ts'

export const BeneficiaryMember = partialObject('BeneficiaryMember', {
  ...jsonLd,
  member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
  demographic_info: partialObject('BeneficiaryDemographicInfo', {
    ...jsonLd,
    person: partialObject('BeneficiaryPerson', { ...demographics, ...identifier }),
  }),
  relationship_head: codeOf('relationship_type'),
  related_person: Type.Unknown(),
  disability_info: Type.Unknown(),
  ...situation,
  is_disabled: Type.Union([Type.Boolean(), Type.String()], { description: 'In the examples the string "0" or "1"' }),
  ...registration,
  programme_identifier: Type.Union([Enrolment, Type.Array(Enrolment)]),
})

export const Beneficiary = partialObject('Beneficiary', {
  ...jsonLd,
  assistance_unit: codeOf('group_type'),
  member: BeneficiaryMember,
})
