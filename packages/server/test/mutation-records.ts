/** A few records of every kind for the mutation tests, each with its identifiers, listed by hand. */

/** A record, and the identifiers by which a search may find it. */
export interface Fixture {
  readonly kind: string
  /** The `reg_record_type` that asks for it. */
  readonly recordType: string
  readonly document: object
  /** Canonical type and value: what a search must name, in some spelling, to be given this record. */
  readonly bears: readonly (readonly [type: string, value: string])[]
}

const identifier = (identifier_type: string, identifier_value: string) => ({ identifier_type, identifier_value })

/** Each name and number occurs nowhere else, so that a log line which holds one is found. */
const PERSON = { surname: 'Quillvarosh', given_name: 'Zephyrine' }

export const FIXTURES: readonly Fixture[] = [
  {
    kind: 'civil',
    recordType: 'Person',
    document: {
      '@type': 'CRVS_Person',
      identifier: [identifier('UIN', '77120901'), identifier('BRN', 'B-771-55')],
      name: PERSON,
      sex: 'female',
      birth_date: '1987-03-04',
      phone_number: ['+1 555 7712'],
      email: ['zephyrine@mutation.example'],
    },
    bears: [
      ['UIN', '77120901'],
      ['BRN', 'B-771-55'],
      ['MOBILE', '+1 555 7712'],
      ['EMAIL', 'zephyrine@mutation.example'],
    ],
  },
  {
    kind: 'civil',
    recordType: 'Person',
    document: {
      '@type': 'CRVS_Person',
      identifier: [identifier('UIN', '77129007199254740993')],
      name: PERSON,
      birth_date: '1990',
      phone_number: ['+1 555 7712'],
    },
    bears: [
      ['UIN', '77129007199254740993'],
      ['MOBILE', '+1 555 7712'],
    ],
  },
  {
    kind: 'civil',
    recordType: 'Person',
    document: { '@type': 'CRVS_Person', identifier: [identifier('UIN', '77120%')], name: PERSON },
    bears: [['UIN', '77120%']],
  },
  {
    kind: 'ibr',
    recordType: 'Member',
    document: { member_identifier: [identifier('UIN', '77120902'), identifier('NID', 'N-771-2')], name: PERSON },
    bears: [
      ['UIN', '77120902'],
      ['NID', 'N-771-2'],
    ],
  },
  {
    kind: 'ess',
    recordType: 'Member',
    document: { member_identifier: [identifier('UIN', '77120903')], demographic_info: { name: PERSON } },
    bears: [['UIN', '77120903']],
  },
  {
    kind: 'social',
    recordType: 'Member',
    document: { '@type': 'Member', member_identifier: [identifier('UIN', '77120904')] },
    bears: [['UIN', '77120904']],
  },
  {
    kind: 'social',
    recordType: 'Group',
    document: {
      '@type': 'Group',
      group_identifier: [identifier('HOUSEHOLD_ID', 'H-771-4')],
      member_list: [{ member_identifier: [identifier('UIN', '77120904')] }],
    },
    bears: [
      ['HOUSEHOLD_ID', 'H-771-4'],
      ['UIN', '77120904'],
    ],
  },
  {
    kind: 'disability',
    recordType: 'DisabledPerson',
    document: { identifier: [identifier('UIN', '77120905')], name: PERSON },
    bears: [['UIN', '77120905']],
  },
  {
    kind: 'farmer',
    recordType: 'Farmer',
    document: { identifier: [identifier('FARMER_ID', 'F-771-6')], name: PERSON },
    bears: [['FARMER_ID', 'F-771-6']],
  },
]

/** Values that no line of the log may have. */
export const PERSONAL = /Quillvarosh|Zephyrine|7712|771-/i

/**
 * Brings two spellings of one identifier together, more generously than the server may: whatever it finds by a
 * value that folds otherwise was not asked for.
 */
export function fold(value: string): string {
  return value
    .normalize('NFKC')
    .toUpperCase()
    .normalize('NFKC')
    .replace(/^TEL:/, '')
    .replace(/[\s\p{Cf}\-./()+]+/gu, '')
}
