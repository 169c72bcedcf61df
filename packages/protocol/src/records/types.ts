/** The TypeScript types of records, by kind and record type, and of parts of records. No member is required (N5). */
import type { Static, TSchema } from 'typebox'
import { Beneficiary as BeneficiarySchema } from './beneficiary.ts'
import { DisabledPerson as DisabledPersonSchema } from './disabled-person.ts'
import { Farmer as FarmerSchema } from './farmer.ts'
import { Group as GroupSchema } from './group.ts'
import { EmploymentMember as EmploymentMemberSchema, Member as MemberSchema } from './member.ts'
import type * as parts from './parts.ts'
import { Person as PersonSchema } from './person.ts'

/** The schema of each record type, by the name of its kind. A test compares it with the kinds. */
export const RECORD_SCHEMAS = {
  civil: { Person: PersonSchema },
  ibr: { Beneficiary: BeneficiarySchema },
  ess: { Member: EmploymentMemberSchema },
  social: { Member: MemberSchema, Group: GroupSchema },
  disability: { DisabledPerson: DisabledPersonSchema },
  farmer: { Farmer: FarmerSchema },
}

type Schemas = typeof RECORD_SCHEMAS

/** The type of each record type's records, by kind: `RecordsByKind['social']['Group']`. */
export type RecordsByKind = {
  [Kind in keyof Schemas]: {
    [Type in keyof Schemas[Kind]]: Schemas[Kind][Type] extends TSchema ? Static<Schemas[Kind][Type]> : never
  }
}

export type Person = RecordsByKind['civil']['Person']
export type Beneficiary = RecordsByKind['ibr']['Beneficiary']
export type EmploymentMember = RecordsByKind['ess']['Member']
export type Member = RecordsByKind['social']['Member']
export type Group = RecordsByKind['social']['Group']
export type DisabledPerson = RecordsByKind['disability']['DisabledPerson']
export type Farmer = RecordsByKind['farmer']['Farmer']

export type Identifier = Static<typeof parts.Identifier>
export type Name = Static<typeof parts.Name>
export type Address = Static<typeof parts.Address>
export type Place = Static<typeof parts.Place>
export type Enrolment = Static<typeof parts.Enrolment>
