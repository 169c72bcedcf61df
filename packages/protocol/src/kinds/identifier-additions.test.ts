import { describe, expect, it } from 'vitest'
import { formProblem, readIdentifiers } from '../attributes/read-identifiers.ts'
import { sampleRecord } from '../openapi/sample-record.ts'
import { kindMarkdown } from '../openapi/tables.ts'
import { identifierTypeProblem, primaryProblem, withIdentifiers } from './identifier-additions.ts'
import { KINDS, kindNamed, resolveIdentifierType } from './index.ts'
import type { IdentifierType, Kind } from './kind.ts'
import { resolveSearchable } from './searchable.ts'

const [civil, social] = [kindNamed('civil') as Kind, kindNamed('social') as Kind]
const CEDULA: IdentifierType = { name: 'CEDULA', normaliser: 'code' }
const none = { identifier_types: [], primary_identifiers: {} }

describe('a kind with identifier types of its registry', () => {
  it('is the kind itself without any, and has record types of its own otherwise', () => {
    expect(withIdentifiers(civil, none)).toBe(civil)
    expect(withIdentifiers(civil, { ...none, primary_identifiers: { Person: 'UIN' } })).toBe(civil)
    const more = withIdentifiers(civil, { ...none, identifier_types: [CEDULA] })
    expect(more.record_types[0]).not.toBe(civil.record_types[0])
    expect(more.record_types[0]).toEqual({ ...civil.record_types[0], sort_identifiers: ['UIN'] })
  })

  it('finds a new type by its names in every place that knows types', () => {
    const added = { ...CEDULA, aliases: ['DocumentNo'] }
    const more = withIdentifiers(civil, { ...none, identifier_types: [added] })
    expect(resolveIdentifierType(more, 'spdci:documentno')).toBe(added)
    expect(resolveSearchable(more, more.record_types[0], 'cedula')).toEqual({ is: 'identifier', types: [added] })
    expect(kindMarkdown(more)).toContain('| CEDULA | DocumentNo |')
    expect(kindMarkdown(civil)).not.toContain('CEDULA')
  })

  it('knows records by another type, also where they name none, and where other records name them', () => {
    const more = withIdentifiers(social, { ...none, primary_identifiers: { Member: 'NID' } })
    const [member, group] = more.record_types
    expect(member.primary_identifier).toBe('NID')
    expect(group?.primary_identifier).toBe('HOUSEHOLD_ID')
    expect(readIdentifiers(more, member, { member_identifier: ['77'] })).toEqual([{ type: 'NID', value: '77', names: 'record' }])
    if (group === undefined) throw new Error('no Group')
    const household = { group_identifier: 'H-1', member_list: [{ member_identifier: '77' }] }
    expect(readIdentifiers(more, group, household)).toEqual([
      { type: 'HOUSEHOLD_ID', value: 'H-1', names: 'record' },
      { type: 'NID', value: '77', names: 'part' },
    ])
  })

  it('has forms of values, which samples have and other values break', () => {
    const patterns = ['[0-9]{8}', 'X[0-9]{3}']
    const more = withIdentifiers(civil, {
      identifier_types: [{ name: 'NID', normaliser: 'code', patterns }],
      primary_identifiers: { Person: 'NID' },
    })
    const [person] = more.record_types
    expect(resolveIdentifierType(more, 'NIN')).toMatchObject({ name: 'NID', patterns })
    const read = readIdentifiers(more, person, sampleRecord(more, person))
    expect(read).toEqual([{ type: 'NID', value: '00000000', names: 'record' }])
    expect(formProblem(more, read)).toBeNull()
    expect(formProblem(more, [{ type: 'NID', value: '7' }])).toBe('NID: must be of the form [0-9]{8} or X[0-9]{3}')
    expect(kindMarkdown(more)).toContain('`[0-9]{8}` or `X[0-9]{3}`')
  })
})

describe('an identifier type is taken', () => {
  it.each<[Kind, Partial<IdentifierType>]>([
    [civil, {}],
    [civil, { aliases: ['DocumentNo'], patterns: ['[0-9]{8}'] }],
    [civil, { name: 'WHATSAPP', normaliser: 'phone' }],
    [civil, { name: 'NID', patterns: ['[0-9]{8}'] }],
    [kindNamed('ess') as Kind, { name: 'NID', aliases: ['NIN'] }],
  ])('%#', (kind, more) => {
    expect(identifierTypeProblem(kind, { ...CEDULA, ...more })).toBeNull()
  })
})

describe('an identifier type is refused', () => {
  const form = 'name: must be 1 to 41 capital letters, digits and _, beginning with a letter; queries may write it in any case'
  it.each<[Partial<IdentifierType>, string]>([
    [{ name: 'cedula' }, form],
    [{ name: '1A' }, form],
    [{ name: '*' }, form],
    [{ name: 'A'.repeat(42) }, form],
    [{ name: 'NIN' }, 'name: NIN is another name of NID; use that name'],
    [{ name: 'SURNAME' }, 'name: SURNAME already means something else in queries of this registry'],
    [{ name: 'VALUE' }, 'name: VALUE already means something else in queries of this registry'],
    [
      { name: 'UIN' },
      'name: the registry has UIN already; give another name for it, the form of its values, or that it is sortable',
    ],
    [{ name: 'NID', normaliser: 'phone', aliases: ['X'] }, 'compared_as: values of NID are compared as code in every registry'],
    [{ aliases: ['a b'] }, 'aliases[0]: must be 1 to 64 letters, digits and _, beginning with a letter'],
    [{ aliases: ['C', 'c'] }, 'aliases[1]: repeats a name'],
    [{ aliases: ['NIN'] }, 'aliases[0]: NIN is a name of NID'],
    [{ aliases: ['sex'] }, 'aliases[0]: sex already means something else in queries of this registry'],
    [{ aliases: Array.from({ length: 21 }, (_, at) => `A${at}`) }, 'aliases: must be at most 20 names'],
    [{ patterns: Array.from({ length: 11 }, (_, at) => `A${at}`) }, 'patterns: must be at most 10'],
    [{ normaliser: 'phone', patterns: ['1'] }, 'patterns: only for values that are compared as code'],
    [
      { patterns: ['1', '(a+)+'] },
      'patterns[1]: must be digits, capital letters, - / . _ and classes such as [0-9], [A-Z0-9] or \\d, each with {n}, {n,m} or ? if it is there several times or may be missing',
    ],
  ])('%j', (more, problem) => {
    expect(identifierTypeProblem(civil, { ...CEDULA, ...more })).toBe(problem)
  })

  it('where there are fifty', () => {
    const identifier_types = Array.from({ length: 42 }, (_, at) => ({ ...CEDULA, name: `T${at}` }))
    const full = withIdentifiers(civil, { ...none, identifier_types })
    expect(full.identifier_types).toHaveLength(50)
    expect(identifierTypeProblem(full, CEDULA)).toBe('name: a registry has at most 50 identifier types')
  })
})

describe('a primary identifier', () => {
  it.each([
    [civil, 'Person', 'NID', null],
    [social, 'Group', 'NID', null],
    [
      ...[civil, 'Person', 'CEDULA'],
      'primary_identifiers.Person: must be one of UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID; to use another type, add the registry without it, then rollcall identifier-type add and rollcall registry set --primary',
    ],
    [
      ...[civil, 'Person', 'MOBILE'],
      'primary_identifiers.Person: must be one of UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID; to use another type, add the registry without it, then rollcall identifier-type add and rollcall registry set --primary',
    ],
    [civil, 'Group', 'NID', 'primary_identifiers: names Group; the record types are Person'],
    [social, 'Group', 'UIN', 'primary_identifiers.Group: UIN is the primary identifier of Member'],
  ] as [Kind, string, string, string | null][])('%# is taken or refused', (kind, record_type, primary, problem) => {
    expect(primaryProblem(kind, record_type, primary)).toBe(problem)
  })
})

it('no kind has a form for its values, and all compare them in a way that an operator may choose too', () => {
  for (const { identifier_types } of KINDS) {
    expect(identifier_types.filter(({ patterns }) => patterns !== undefined)).toEqual([])
    expect(identifier_types.filter(({ normaliser }) => normaliser === 'exact')).toEqual([])
  }
})
