/** The disability registry (public-standard.md 2.7). */
import { DisabledPerson } from '../records/disabled-person.ts'
import { UIN } from './identifier-types.ts'
import type { Kind } from './kind.ts'
import { addressAttributes, personAttributes, registrationAttributes, under } from './shared-attributes.ts'

const persons = ['personal_details', 'personal_details.demographic_info']

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
        ...under(persons, 'member_identifier', 'identifier').map((path) => ({
          path,
          type: 'UIN',
          names: 'record' as const,
        })),
        ...['member_identifier', 'identifier'].map((path) => ({
          path,
          type: 'UIN',
          names: 'record' as const,
        })),
      ],
      attributes: [
        ...personAttributes(persons),
        ...addressAttributes(persons),
        {
          name: 'disability_status',
          paths: ['disability_status'],
          type: 'code',
          codes: 'disability_status',
        },
        { name: 'disability_level', paths: ['disability_level'], type: 'code', codes: 'disability_level' },
        {
          name: 'impairment_type',
          aliases: ['disability_type'],
          paths: ['disability_details.impairment_type', 'impairment_type'],
          type: 'code',
          codes: 'impairment_type',
          many: true,
          indexed: true,
        },
        {
          name: 'impairment_level',
          paths: ['disability_details.impairment_level', 'impairment_level'],
          type: 'code',
          codes: 'impairment_level',
          many: true,
        },
        {
          name: 'transport_requirement',
          paths: ['transport_requirement'],
          type: 'code',
          codes: 'transport_requirement',
        },
        { name: 'housing_type', paths: ['housing_type'], type: 'code', codes: 'housing_type' },
        {
          name: 'programme_identifier',
          aliases: ['program_identifier'],
          paths: ['programs_enrollments.programme_identifier'],
          type: 'text',
          fold: true,
          many: true,
        },
        {
          name: 'programme_name',
          aliases: ['program_name'],
          paths: ['programs_enrollments.programme_name'],
          type: 'text',
          fold: true,
          many: true,
        },
        ...registrationAttributes(['']),
      ],
      schema: DisabledPerson,
    },
  ],
  identifier_types: [UIN],
  event_types: [
    {
      name: 'REGISTER',
      aliases: ['REGISTRATION', 'DisabledPerson', 'NewDisabledPerson', 'NewDisabledNewborn'],
    },
  ],
  operations: ['disabled', 'disability-details', 'disability-support'],
}
