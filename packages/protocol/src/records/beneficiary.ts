/** The schema of a beneficiary (spec "Beneficiary record", public-standard.md 2.4). */
import Type from 'typebox'
import { demographicMembers, personSituationMembers } from './member.ts'
import { codeSchema, Enrolment, Identifier, identifier, jsonLdMembers, partialObject, registrationTimes } from './parts.ts'

export const BeneficiaryMember = partialObject('BeneficiaryMember', {
  ...jsonLdMembers,
  member_identifier: Type.Union([Type.String(), Type.Array(Identifier)]),
  demographic_info: partialObject('BeneficiaryDemographicInfo', {
    ...jsonLdMembers,
    person: partialObject('BeneficiaryPerson', { ...demographicMembers, ...identifier }),
  }),
  relationship_head: codeSchema('relationship_type'),
  related_person: Type.Unknown(),
  disability_info: Type.Unknown(),
  ...personSituationMembers,
  is_disabled: Type.Union([Type.Boolean(), Type.String()], { description: 'In the examples the string "0" or "1"' }),
  ...registrationTimes,
  programme_identifier: Type.Union([Enrolment, Type.Array(Enrolment)]),
})

export const Beneficiary = partialObject('Beneficiary', {
  ...jsonLdMembers,
  assistance_unit: codeSchema('group_type'),
  member: BeneficiaryMember,
})
