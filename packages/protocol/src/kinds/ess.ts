/** The employment support system (spec "Member record", public-standard.md 2.5). */
import { EmploymentMember } from '../records/member.ts'
import { UIN } from './identifier-types.ts'
import type { Kind } from './kind.ts'
import {
  addressAttributes,
  personAttributes,
  registrationAttributes,
  situationAttributes,
  under,
} from './shared-attributes.ts'

const persons = ['demographic_info', 'demographic_info.person']

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
        ...persons.map((path) => ({ path, names: 'record' as const })),
        ...under(persons, 'identifier').map((path) => ({ path, type: 'UIN', names: 'record' as const })),
      ],
      attributes: [
        ...personAttributes(persons),
        ...addressAttributes(persons),
        ...situationAttributes(['']),
        {
          name: 'employment_type',
          paths: ['employment_info.employment_type', 'employment_type'],
          type: 'code',
          codes: 'employment_type',
          many: true,
        },
        {
          name: 'unemployment_reason',
          paths: ['unemployment_reason'],
          type: 'code',
          codes: 'unemployment_reason',
        },
        {
          name: 'enrolment_status',
          aliases: ['enrollment_status', 'enrolled_status'],
          paths: ['enrolment_status', 'additional_attributes.enrolment_status'],
          type: 'code',
          codes: 'ess_enrolment_status',
        },
        ...registrationAttributes(['', ...persons]),
      ],
      schema: EmploymentMember,
    },
  ],
  identifier_types: [UIN],
  event_types: [{ name: 'enrolment', aliases: ['enrollement', 'enrollment'] }],
  operations: ['enrolment-status'],
}
