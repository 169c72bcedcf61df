/** The integrated beneficiary registry (spec "Beneficiary record", public-standard.md 2.4). */
import { Beneficiary } from '../records/beneficiary.ts'
import { NID, UIN } from './identifier-types.ts'
import type { Compound, Kind } from './kind.ts'
import type { NotifiedShape } from './notified-shape.ts'
import {
  addressAttributes,
  identifierKeyedList,
  PERSON_QUERY_PREFIXES,
  pathsAt,
  personAttributes,
  personSituationAttributes,
  programmeAttributes,
  programmeKeyedList,
  registrationAttributes,
} from './shared-attributes.ts'

/** The paths to the data of a person: first those in a Beneficiary, then those in a Member, as notifications have it. */
const personPaths = ['member.demographic_info.person', 'member.demographic_info', 'demographic_info.person', 'demographic_info']
/** Where a beneficiary's data may be: in the member `member`, or in the record itself (''). */
const memberOrRecordPaths = ['member', '']

/**
 * An enrolment in a programme. Published examples have enrolments in `member`. Newer schemas of the public standard have them
 * beside `member`, with status and dates in the beneficiary record. A notification may have only the status.
 */
const enrolment: Compound = {
  name: 'enrolment',
  aliases: ['enrollment'],
  paths: [...pathsAt(memberOrRecordPaths, 'programme_identifier'), ''],
  members: [
    // An element may be a plain value and not an object: it is then the identifier of the programme.
    ...programmeAttributes.map((member) =>
      member.name === 'programme_identifier' ? { ...member, paths: [...member.paths, ''] } : member,
    ),
    {
      name: 'enrolment_status',
      paths: ['enrolment_status', 'programme.enrolment_status'],
      record_paths: [
        ...pathsAt(memberOrRecordPaths, 'enrolment_status', 'additional_attributes.enrolment_status'),
        'programme.enrolment_status',
      ],
      type: 'code',
      codes: 'ibr_enrolment_status',
    },
    {
      name: 'enrolment_date',
      paths: ['enrolment_date', 'programme.enrolment_date'],
      record_paths: [...pathsAt(memberOrRecordPaths, 'enrolment_date'), 'programme.enrolment_date'],
      type: 'date',
    },
  ],
  indexed: true,
}

/** The form of a beneficiary in a notification: a `Member`, with the changed enrolments in its additional attributes. */
const notifiedMemberShape: NotifiedShape = {
  type: 'Member',
  members: [
    {
      name: 'member_identifier',
      paths: [...pathsAt(memberOrRecordPaths, 'member_identifier'), ...personPaths, ...pathsAt(personPaths, 'identifier')],
      as: 'identifiers',
    },
    {
      name: 'demographic_info',
      paths: personPaths,
      members: [
        { name: 'identifier', paths: ['identifier', ''], as: 'identifiers' },
        {
          name: 'name',
          paths: ['name'],
          members: ['surname', 'given_name', 'second_name', 'maiden_name', 'prefix', 'suffix'].map((name) => {
            return { name, paths: [name], as: 'value' }
          }),
        },
        { name: 'sex', paths: ['sex'], as: 'value' },
        { name: 'birth_date', paths: ['birth_date'], as: 'date' },
        { name: 'death_date', paths: ['death_date'], as: 'date' },
        { name: 'address', paths: ['address'], as: 'value' },
        { name: 'phone_number', paths: ['phone_number'], as: 'list' },
        { name: 'email', paths: ['email'], as: 'list' },
      ],
    },
    { name: 'related_person', paths: pathsAt(memberOrRecordPaths, 'related_person'), as: 'objects' },
    { name: 'is_disabled', paths: pathsAt(memberOrRecordPaths, 'is_disabled'), as: 'boolean' },
    ...['marital_status', 'employment_status', 'occupation', 'income_level', 'education_level'].map((name) => {
      return { name, paths: pathsAt(memberOrRecordPaths, name), as: 'value' } as const
    }),
    { name: 'language_code', paths: pathsAt(memberOrRecordPaths, 'language_code'), as: 'list' },
    { name: 'additional_attributes', paths: pathsAt(memberOrRecordPaths, 'additional_attributes'), as: 'objects' },
    { name: 'registration_date', paths: pathsAt(memberOrRecordPaths, 'registration_date'), as: 'datetime' },
    { name: 'last_updated', paths: pathsAt(memberOrRecordPaths, 'last_updated'), as: 'datetime' },
  ],
}

export const ibr: Kind = {
  name: 'ibr',
  title: 'Integrated beneficiary registry',
  description: 'Who is enrolled in which social-protection programme: one record a person.',
  reg_type: { name: 'IBR', aliases: ['IntegratedBeneficiaryRegistry'] },
  record_types: [
    {
      name: 'Beneficiary',
      emitted: 'Member',
      notified_as: notifiedMemberShape,
      aliases: ['Member', 'Person', 'IBRPerson', 'IBRMember'],
      document_types: ['Beneficiary', 'Member', 'Person'],
      primary_identifier: 'UIN',
      identifiers: [
        ...pathsAt(memberOrRecordPaths, 'member_identifier').map((path) => ({ path, type: 'UIN', names: 'record' as const })),
        ...personPaths.map((path) => ({ path, names: 'record' as const })),
        ...pathsAt(personPaths, 'identifier').map((path) => ({ path, type: 'UIN', names: 'record' as const })),
      ],
      attributes: [
        ...personAttributes(personPaths),
        ...addressAttributes(personPaths),
        ...personSituationAttributes(memberOrRecordPaths),
        { name: 'assistance_unit', paths: ['assistance_unit'], type: 'code', codes: 'group_type' },
        ...registrationAttributes(memberOrRecordPaths),
      ],
      compounds: [enrolment],
      keyed_lists: [
        identifierKeyedList([
          ...pathsAt(memberOrRecordPaths, 'member_identifier', 'identifier'),
          ...pathsAt(personPaths, 'identifier'),
        ]),
        programmeKeyedList(pathsAt(memberOrRecordPaths, 'programme_identifier')),
      ],
      event_rules: [
        { event: 'enrollement', on: 'new' },
        {
          event: 'enrollement',
          on: 'changed',
          if: [{ is: 'added', list: { compound: 'enrolment', by: 'programme_identifier' } }],
        },
        {
          event: 'enrollement_status_change',
          on: 'changed',
          if: [{ is: 'member_changed', compound: 'enrolment', by: 'programme_identifier', member: 'enrolment_status' }],
        },
      ],
      relations: [
        {
          name: 'related_person',
          paths: pathsAt(memberOrRecordPaths, 'related_person.related_member'),
          entries: pathsAt(memberOrRecordPaths, 'related_person'),
          record_type: 'Beneficiary',
        },
      ],
      query_prefixes: PERSON_QUERY_PREFIXES,
      schema: Beneficiary,
    },
  ],
  identifier_types: [UIN, NID],
  event_types: [
    { name: 'enrollement', aliases: ['enrollment', 'enrolment'] },
    { name: 'enrollement_status_change', aliases: ['enrollment_status_change', 'enrolment_status_change'] },
  ],
  notified_event_types: ['enrollement', 'enrollement_status_change'],
  search_event_types: ['REGISTER'],
  operations: ['enrolment-updates', 'enrolled'],
}
