/** The disability registry (public-standard.md 2.7). */
import { DisabledPerson } from '../records/disabled-person.ts'
import { UIN } from './identifier-types.ts'
import type { Compound, Kind } from './kind.ts'
import {
  addressAttributes,
  identifierKeyedList,
  PERSON_QUERY_PREFIXES,
  pathsAt,
  personAttributes,
  programmeAttributes,
  programmeKeyedList,
  registrationAttributes,
} from './shared-attributes.ts'

const personPaths = ['personal_details', 'personal_details.demographic_info']

const impairment: Compound = {
  name: 'impairment',
  paths: ['disability_details', ''],
  members: [
    {
      name: 'impairment_type',
      paths: ['impairment_type'],
      record_paths: ['impairment_type'],
      type: 'code',
      codes: 'impairment_type',
    },
    {
      name: 'impairment_level',
      paths: ['impairment_level'],
      record_paths: ['impairment_level'],
      type: 'code',
      codes: 'impairment_level',
    },
    { name: 'impairment_cause', paths: ['impairment_cause'], type: 'code', codes: 'impairment_cause' },
    { name: 'impairment_onset', paths: ['age_on_set'], type: 'code', codes: 'impairment_onset' },
  ],
  indexed: true,
}

const programmeEnrolment: Compound = {
  name: 'programme_enrolment',
  aliases: ['programme_enrollment'],
  paths: ['programs_enrollments'],
  members: programmeAttributes,
  indexed: true,
}

export const disability: Kind = {
  name: 'disability',
  title: 'Disability registry',
  description: 'People with disabilities and the support they need: one record a person.',
  reg_type: { name: 'DR', aliases: ['Disability', 'DisabilityRegistry'] },
  record_types: [
    {
      name: 'DisabledPerson',
      emitted: 'DisabledPerson',
      aliases: ['DRPerson', 'PWD_PERSON', 'Person', 'Member'],
      document_types: ['DisabledPerson', 'DRPerson', 'PWD_PERSON', 'Person'],
      primary_identifier: 'UIN',
      identifiers: [
        ...pathsAt(personPaths, 'member_identifier', 'identifier').map((path) => ({
          path,
          type: 'UIN',
          names: 'record' as const,
        })),
        ...['member_identifier', 'identifier'].map((path) => ({ path, type: 'UIN', names: 'record' as const })),
      ],
      attributes: [
        ...personAttributes(personPaths),
        ...addressAttributes(personPaths),
        { name: 'disability_status', paths: ['disability_status'], type: 'code', codes: 'disability_status' },
        { name: 'disability_level', paths: ['disability_level'], type: 'code', codes: 'disability_level' },
        { name: 'transport_requirement', paths: ['transport_requirement'], type: 'code', codes: 'transport_requirement' },
        { name: 'housing_type', paths: ['housing_type'], type: 'code', codes: 'housing_type' },
        ...registrationAttributes(['']),
      ],
      compounds: [impairment, programmeEnrolment],
      keyed_lists: [
        identifierKeyedList([...pathsAt(personPaths, 'member_identifier', 'identifier'), 'member_identifier', 'identifier']),
        programmeKeyedList(['programs_enrollments']),
      ],
      event_rules: [{ event: 'REGISTER', on: 'new' }],
      relations: [{ name: 'caregiver', paths: ['disability_support.human_assistance.caregiver'] }],
      query_prefixes: PERSON_QUERY_PREFIXES,
      schema: DisabledPerson,
    },
  ],
  identifier_types: [UIN],
  event_types: [{ name: 'REGISTER', aliases: ['REGISTRATION', 'DisabledPerson', 'NewDisabledPerson', 'NewDisabledNewborn'] }],
  notified_event_types: ['REGISTER'],
  search_event_types: ['SEARCH'],
  operations: ['disabled', 'disability-details', 'disability-support'],
}
