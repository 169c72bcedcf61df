/** The employment support system (spec "Member record", public-standard.md 2.5). */
import { EmploymentMember } from '../records/member.ts'
import { UIN } from './identifier-types.ts'
import type { Compound, Kind } from './kind.ts'
import {
  addressAttributes,
  identifierKeyedList,
  PERSON_QUERY_PREFIXES,
  pathsAt,
  personAttributes,
  personSituationAttributes,
  registrationAttributes,
} from './shared-attributes.ts'

const personPaths = ['demographic_info', 'demographic_info.person']

/** One job of a person, current or past. */
const employment: Compound = {
  name: 'employment',
  paths: ['employment_info', ''],
  members: [
    {
      name: 'employment_type',
      paths: ['employment_type'],
      record_paths: ['employment_type'],
      type: 'code',
      codes: 'employment_type',
    },
    { name: 'job_title', paths: ['job_title'], type: 'text', fold: true },
    { name: 'employer', paths: ['employer'], type: 'text', fold: true },
    { name: 'start_date', paths: ['start_date'], type: 'date' },
    { name: 'end_date', paths: ['end_date'], type: 'date' },
  ],
}

export const ess: Kind = {
  name: 'ess',
  title: 'Employment support system',
  description: 'People who receive employment support: one record a member.',
  reg_type: { name: 'ESS', aliases: ['EmploymentSupportSystem'] },
  record_types: [
    {
      name: 'Member',
      emitted: 'Member',
      aliases: ['Person', 'ESSPerson', 'ESSMember', 'SRPerson'],
      document_types: ['Member', 'Person', 'ESSPerson'],
      primary_identifier: 'UIN',
      identifiers: [
        { path: 'member_identifier', type: 'UIN', names: 'record' },
        ...personPaths.map((path) => ({ path, names: 'record' as const })),
        ...pathsAt(personPaths, 'identifier').map((path) => ({ path, type: 'UIN', names: 'record' as const })),
      ],
      attributes: [
        ...personAttributes(personPaths),
        ...addressAttributes(personPaths),
        ...personSituationAttributes(['']),
        { name: 'unemployment_reason', paths: ['unemployment_reason'], type: 'code', codes: 'unemployment_reason' },
        {
          name: 'enrolment_status',
          paths: ['enrolment_status', 'additional_attributes.enrolment_status'],
          type: 'code',
          codes: 'ess_enrolment_status',
        },
        ...registrationAttributes(['', ...personPaths]),
      ],
      compounds: [employment],
      keyed_lists: [identifierKeyedList(['member_identifier', ...pathsAt(personPaths, 'identifier')])],
      event_rules: [
        { event: 'enrolment', on: 'new' },
        { event: 'enrolment', on: 'changed', if: [{ is: 'set', attribute: 'enrolment_status' }] },
        { event: 'enrolment', on: 'changed', if: [{ is: 'changed', attribute: 'enrolment_status' }] },
      ],
      relations: [
        { name: 'related_person', paths: ['related_person.related_member'], entries: ['related_person'], record_type: 'Member' },
      ],
      query_prefixes: PERSON_QUERY_PREFIXES,
      schema: EmploymentMember,
    },
  ],
  identifier_types: [UIN],
  event_types: [{ name: 'enrolment', aliases: ['enrollement', 'enrollment'] }],
  operations: ['enrolment-status'],
}
