/**
 * The schema of a household, family or other group in the social registry (spec "Group record", public-standard.md
 * 2.6).
 */
import Type from 'typebox'
import { Member } from './member.ts'
import { AdditionalAttributes, codeSchema, Identifier, jsonLdMembers, Place, partialObject, registrationTimes } from './parts.ts'

export const Group = partialObject('Group', {
  ...jsonLdMembers,
  group_identifier: Type.Array(Identifier),
  group_type: codeSchema('group_type'),
  place: Place,
  place_address: Type.Union([Type.Number(), Type.Boolean()]),
  poverty_score: Type.Number(),
  poverty_score_type: Type.String(),
  group_head_info: Member,
  group_size: Type.Integer(),
  member_list: Type.Array(Member),
  ...registrationTimes,
  additional_attributes: AdditionalAttributes,
})
