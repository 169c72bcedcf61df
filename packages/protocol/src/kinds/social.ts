/** The social registry: members, and the groups in which they live (spec "Group record", public-standard.md 2.6). */
import { Group } from '../records/group.ts'
import { Member } from '../records/member.ts'
import { EMAIL, MOBILE, NID, UIN } from './identifier-types.ts'
import type { Compound, IdentifierSource, Kind } from './kind.ts'
import {
  addressAttributes,
  identifierKeyedList,
  maritalStatus,
  PERSON_QUERY_PREFIXES,
  pathsAt,
  personAttributes,
  personSituationAttributes,
  povertyScore,
  registrationAttributes,
} from './shared-attributes.ts'

const personPaths = ['demographic_info', 'demographic_info.person']
/** The paths in a group record at which members of the group are. */
const groupMemberPaths = ['group_head_info', 'member_list', 'member_list.household_member']

/** The places of the identifiers of members, for members at the paths `at`. */
function memberIdentifierSources(at: readonly string[], names: IdentifierSource['names']): IdentifierSource[] {
  const people = pathsAt(at, ...personPaths)
  return [
    ...pathsAt(at, 'member_identifier').map((path) => ({ path, type: 'UIN', names })),
    ...people.map((path) => ({ path, names })),
    ...pathsAt(people, 'identifier').map((path) => ({ path, type: 'UIN', names })),
    ...pathsAt(people, 'phone_number').map((path) => ({ path, type: 'MOBILE', names })),
    ...pathsAt(people, 'email').map((path) => ({ path, type: 'EMAIL', names })),
  ]
}

/** The paths of the members' lists of identifiers, for members at the paths `at`. */
function memberIdentifierLists(at: readonly string[]): string[] {
  return [...pathsAt(at, 'member_identifier'), ...pathsAt(pathsAt(at, ...personPaths), 'identifier')]
}

/** A functional limitation of a member. */
const functionalLimitation: Compound = {
  name: 'functional_limitation',
  paths: ['disability_info'],
  members: [
    {
      name: 'functional_limitation_type',
      paths: ['functional_limitation_type'],
      type: 'code',
      codes: 'functional_limitation_type',
    },
    { name: 'functional_severity', paths: ['functional_severity'], type: 'code', codes: 'functional_severity' },
  ],
  indexed: true,
}

/** A person in a group. When the group lists no members, its head is the only element. */
const householdMember: Compound = {
  name: 'household_member',
  aliases: ['group_member'],
  paths: ['member_list.household_member', 'member_list', 'group_head_info'],
  members: [
    { name: 'sex', paths: pathsAt(personPaths, 'sex'), type: 'code', codes: 'sex' },
    { name: 'birth_date', paths: pathsAt(personPaths, 'birth_date'), type: 'date' },
    { name: 'is_disabled', paths: ['is_disabled'], type: 'boolean' },
    maritalStatus(['marital_status']),
  ],
}

export const social: Kind = {
  name: 'social',
  title: 'Social registry',
  description: 'Households and their members, with what is known of their need.',
  reg_type: { name: 'Social', aliases: ['SR', 'SocialRegistry', 'SOCIAL_REGISTRY', 'Individual', 'Group'] },
  record_types: [
    {
      name: 'Member',
      emitted: 'Member',
      aliases: ['Person', 'SRPerson', 'SRMember', 'Individual'],
      document_types: ['Member', 'Person', 'SRPerson'],
      primary_identifier: 'UIN',
      identifiers: memberIdentifierSources([''], 'record'),
      attributes: [
        ...personAttributes(personPaths),
        ...addressAttributes([...personPaths, '']),
        ...personSituationAttributes(['']),
        povertyScore,
        ...registrationAttributes(['', ...personPaths]),
      ],
      compounds: [functionalLimitation],
      keyed_lists: [identifierKeyedList(['member_identifier', ...pathsAt(personPaths, 'identifier')])],
      event_rules: [{ event: 'REGISTER', on: 'new' }],
      relations: [
        { name: 'related_person', paths: ['related_person.related_member'], entries: ['related_person'], record_type: 'Member' },
      ],
      query_prefixes: PERSON_QUERY_PREFIXES,
      schema: Member,
    },
    {
      name: 'Group',
      emitted: 'Group',
      aliases: ['Household', 'Family', 'SRGroup'],
      document_types: ['Group', 'Household', 'Family'],
      primary_identifier: 'HOUSEHOLD_ID',
      // Published examples sort groups by UIN.
      sort_identifiers: ['UIN'],
      identifiers: [
        { path: 'group_identifier', type: 'HOUSEHOLD_ID', names: 'record' },
        ...memberIdentifierSources(groupMemberPaths, 'part'),
      ],
      attributes: [
        { name: 'group_type', paths: ['group_type'], type: 'code', codes: 'group_type' },
        povertyScore,
        { name: 'poverty_score_type', paths: ['poverty_score_type'], type: 'text', fold: true },
        { name: 'group_size', paths: ['group_size'], type: 'number', indexed: true, sortable: true },
        ...addressAttributes(['', 'place'], ['geographical_location', 'place.name', 'place.address']),
        ...registrationAttributes(['']),
      ],
      compounds: [householdMember],
      keyed_lists: [
        identifierKeyedList(['group_identifier', ...memberIdentifierLists(groupMemberPaths)]),
        { name: 'member', paths: ['member_list'], identifiers: memberIdentifierLists(['', 'household_member']) },
      ],
      event_rules: [
        { event: 'REGISTER', on: 'new' },
        {
          event: 'NewHouseHoldMember',
          on: 'changed',
          if: [{ is: 'added', list: { keyed_list: 'member' } }],
          also_of: { record_type: 'Member', list: { keyed_list: 'member' } },
          persons: 'member_list',
        },
      ],
      unnamed_paths: ['group_head_info'],
      relations: [
        {
          name: 'member_list',
          paths: ['member_list', 'member_list.household_member'],
          record_type: 'Member',
          counted_by: 'group_size',
        },
        { name: 'group_head_info', paths: ['group_head_info'], record_type: 'Member', counted_by: 'group_size' },
      ],
      schema: Group,
    },
  ],
  identifier_types: [
    UIN,
    NID,
    { name: 'HOUSEHOLD_ID', aliases: ['GROUP_ID', 'HOUSEHOLD_NO'], normaliser: 'code' },
    MOBILE,
    EMAIL,
  ],
  event_types: [
    { name: 'REGISTER', aliases: ['REGISTRATION'] },
    { name: 'NewHouseHoldMember', aliases: ['new_household_member'] },
  ],
  notified_event_types: ['REGISTER', 'NewHouseHoldMember'],
  search_event_types: ['SEARCH'],
  operations: [],
  // In the specification for social registries, `UnSubscribeResponse` need not have a timestamp, and a `correlation_id` has no
  // pattern ("Common field types").
  relaxed: { optional: { UnSubscribeResponse: ['timestamp'] }, unpatterned: ['correlation_id'] },
}
