import { type Kind, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../core/test/processor-time.ts'
import { readColumnMapping } from './column-mapping.ts'
import { ATTRIBUTE_COLUMN_NAMES, IDENTIFIER_COLUMN_NAMES } from './column-synonyms.ts'
import { proposeColumns } from './propose-mapping.ts'
import { listValuePaths } from './record-paths.ts'

const kindOf = (name: string): Kind => {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(`no kind ${name}`)
  return kind
}
const civil = kindOf('civil')
const [person] = civil.record_types

/** The proposal for one column with these values. */
function propose(column: string, ...values: string[]) {
  const [proposed] = proposeColumns(civil, person, { header: [column], rows: values.map((value) => [value]) })
  if (proposed === undefined) throw new Error('no column')
  return proposed
}

describe('names of columns', () => {
  it.each([
    ['Given Name', 'name.given_name'],
    ['FIRST_NAME', 'name.given_name'],
    ['Prénom', 'name.given_name'],
    ['Apellidos', 'name.surname'],
    ['Sobrenome', 'name.surname'],
    ['Family name', 'name.surname'],
    ['National ID', 'identifier[NID]'],
    ['NIN', 'identifier[NID]'],
    ['Cédula', 'identifier[NID]'],
    ['UIN', 'identifier[UIN]'],
    ['birth_reg_no', 'identifier[BRN]'],
    ['Téléphone', 'phone_number'],
    ['E-Mail', 'email'],
    ['Place of birth', 'birth_place.name'],
    ['marital_status', 'marital_status'],
  ])('%s is %s', (column, path) => {
    expect(propose(column, 'S')).toMatchObject({ state: 'mapped', path, choices: [] })
  })

  it.each([
    ['Ward', 'nothing in the records has this name'],
    ['Age', 'an age changes every year: records have a date of birth, from which ages are counted'],
    ['', 'the column has no name; give it one in the header line'],
  ])('%j is not mapped: %s', (column, reason) => {
    expect(propose(column, '7')).toMatchObject({ state: 'unmapped', path: null, reasons: [reason] })
  })

  it('that are whole names, or of columns without values, are left to a person', () => {
    expect(propose('Full name', 'Ada Okoro')).toMatchObject({
      state: 'decide',
      choices: [{ path: 'name.given_name' }, { path: 'name.surname' }],
    })
    expect(propose('Surname', '', ' ')).toMatchObject({
      state: 'decide',
      reasons: ['no row has a value in it'],
      choices: [{ path: 'name.surname', rule: 'Surname' }],
    })
  })

  it('that mean the same are not both mapped, and the same name is not mapped at all', () => {
    const table = { header: ['Surname', 'Last name', 'Sex', 'Sex'], rows: [['a', 'b', 'm', 'f']] }
    expect(proposeColumns(civil, person, table)).toMatchObject([
      { state: 'mapped', path: 'name.surname' },
      { state: 'decide', choices: [{ path: 'name.surname', rule: 'Last name', meaning: 'instead of Surname' }] },
      { state: 'unmapped', reasons: ['several columns have this name; rename them in the header line'] },
      { state: 'unmapped' },
    ])
  })

  it('may be those of an attribute that an operator has called constructor', () => {
    const attribute = { name: 'constructor', type: 'text', paths: ['constructor'] } as const
    const recordType = { ...person, attributes: [...person.attributes, attribute] }
    const table = { header: ['Constructor'], rows: [['x']] }
    expect(proposeColumns(civil, recordType, table)).toMatchObject([{ state: 'mapped', path: 'constructor' }])
  })

  it('may be very many', () => {
    const header = Array.from({ length: 20_000 }, (_, at) => `c${at}`)
    const began = processorTime()
    expect(proposeColumns(civil, person, { header, rows: [] })).toHaveLength(20_000)
    expect(processorTime() - began).toBeLessThan(3_000)
  })
})

describe('dates', () => {
  it.each([
    [['31/12/1990', '03/04/2001'], 'dd/MM/yyyy'],
    [['12/31/1990', '03/04/2001'], 'MM/dd/yyyy'],
    [['1/2/1990', '31/2/1990'.replace('31/2', '31/1')], 'd/M/yyyy'],
    [['1990/12/31'], 'yyyy/MM/dd'],
    [['19901231'], 'yyyyMMdd'],
    [['31-Dec-1990'], 'dd-MMM-yyyy'],
    [['Dec 31, 1990'], 'MMM d, yyyy'],
    [['31/12/1990 14:30'], 'dd/MM/yyyy HH:mm'],
  ])('%j are %s', (values, format) => {
    expect(propose('DOB', ...values)).toMatchObject({ state: 'mapped', path: 'birth_date', rule: { column: 'DOB', format } })
  })

  it('that need no format get none', () => {
    expect(propose('DOB', '1990-12-31', '1985', '31.12.1990')).toMatchObject({ state: 'mapped', rule: 'DOB' })
  })

  it('that could be read in two orders are never guessed', () => {
    expect(propose('DOB', '03/04/2001', '05/05/2001')).toMatchObject({
      state: 'decide',
      path: null,
      choices: [
        { rule: { column: 'DOB', format: 'dd/MM/yyyy' }, meaning: 'dates such as 03/02/2001' },
        { rule: { column: 'DOB', format: 'MM/dd/yyyy' }, meaning: 'dates such as 02/03/2001' },
      ],
    })
  })

  it.each([
    [['31/12/90'], /^some years have two digits/],
    [['31/12/1990', 'unknown'], /^no known form of dates reads every value/],
  ])('%j are left to a person', (values, reason) => {
    const { state, reasons } = propose('DOB', ...values)
    expect({ state, reason: reasons[1] }).toEqual({ state: 'decide', reason: expect.stringMatching(reason) })
  })

  it.each([
    [['31/12/1990', '30/11/1991', 'unknown'], [{ column: 'DOB', format: 'dd/MM/yyyy' }], 2],
    [
      ['01/02/1990', '31/12/90'],
      [
        { column: 'DOB', format: 'dd/MM/yyyy' },
        { column: 'DOB', format: 'MM/dd/yyyy' },
      ],
      1,
    ],
    [['1990-12-31', 'unknown'], ['DOB'], 1],
    [['31/12/90', 'unknown'], [], 0],
  ])('%j have the formats as choices that read the most values', (values, rules, most) => {
    const meaning = `reads ${most} of ${values.length} values; the others are refused`
    const choices = rules.map((rule) => ({ path: 'birth_date', rule, meaning }))
    expect(propose('DOB', ...values).choices).toEqual(choices)
  })

  it('in a column whose name says nothing are reported, and not mapped', () => {
    expect(propose('Column 7', '31/12/1990').reasons[1]).toBe('all its values are dates, and their meaning is not known')
  })
})

describe('codes', () => {
  it('that the list has are mapped as they are, and words of other languages by a table', () => {
    expect(propose('Gender', 'M', 'female')).toMatchObject({ state: 'mapped', rule: 'Gender' })
    expect(propose('Sexe', 'Homme', 'Femme', 'F')).toMatchObject({
      state: 'mapped',
      rule: { column: 'Sexe', codes: { F: 'female', Femme: 'female', Homme: 'male' } },
    })
  })

  it('that it does not have are left to a person, with what a standard says', () => {
    expect(propose('Sex', '1', '2')).toMatchObject({
      state: 'decide',
      choices: [
        {
          rule: { column: 'Sex', codes: { 1: 'male', 2: 'female' } },
          meaning: 'as ISO/IEC 5218 has them; ask who made the data',
        },
      ],
    })
    expect(propose('Sex', '1', '9').choices).toMatchObject([
      { rule: { codes: { 1: 'male', 9: '?' } }, meaning: 'write what each means in place of ?' },
    ])
  })

  it('are no mapping while one of them has no meaning', () => {
    const [choice] = propose('Sex', 'M', 'X').choices
    expect(choice).toMatchObject({ path: 'sex', rule: { codes: { X: '?' } } })
    expect(() => readColumnMapping({ [choice?.path ?? '']: choice?.rule }, null)).toThrow(
      'the column mapping of sex.codes.X: stands for "?"; write what it means',
    )
  })

  it('may be called as members that every object has', () => {
    const { state, choices } = propose('Sex', 'M', 'constructor', 'toString')
    expect(state).toBe('decide')
    expect(choices.map(({ rule }) => JSON.stringify(rule))).toEqual([
      '{"column":"Sex","codes":{"M":"male","constructor":"?","toString":"?"}}',
    ])
  })

  it('that are long or many are no codes, and do not leave', () => {
    const long = propose('Sex', 'a value that is longer than any code')
    expect(long).toMatchObject({ state: 'decide', choices: [{ rule: 'Sex' }] })
    const many = propose('Sex', ...Array.from({ length: 21 }, (_, at) => `x${at}`))
    expect(JSON.stringify([long, many])).not.toMatch(/longer than any|x7/)
  })
})

it('what values look like maps e-mail addresses alone', () => {
  expect(propose('Column 1', 'a@x.org', 'b@y.org')).toMatchObject({ state: 'mapped', path: 'email' })
  expect(propose('Column 2', '+255 700 000 017')).toMatchObject({
    state: 'decide',
    choices: [{ path: 'phone_number', rule: 'Column 2' }],
  })
  const began = processorTime()
  expect(propose('Column 3', `a@${'.'.repeat(50_000)} x`)).toMatchObject({ state: 'unmapped', path: null })
  expect(processorTime() - began).toBeLessThan(1_000)
})

it('no value leaves: only names of columns and codes stand in a proposal', () => {
  const header = ['National ID', 'Given Name', 'DOB', 'Phone', 'Ward', 'Sex']
  const row = ['8100000017', 'Asha', '31/12/1990', '0700000017', 'Ilala', '1']
  const proposed = JSON.stringify(proposeColumns(civil, person, { header, rows: [row] }))
  for (const value of row.slice(0, -1)) expect(proposed).not.toContain(value)
})

it.each(['civil', 'ibr', 'ess', 'social', 'disability', 'farmer'])(
  'what is proposed for a record of the kind %s is a mapping',
  (name) => {
    const kind = kindOf(name)
    const [recordType] = kind.record_types
    const header = ['UIN', 'Farmer no', 'Given Name', 'Surname', 'DOB', 'Sex', 'Zip', 'Town', 'Phone', 'E-mail']
    const rows = [['1', '2', 'Ada', 'Okoro', '31/12/1990', 'F', '0417', 'Oslo', '070', 'a@x.org']]
    const proposed = proposeColumns(kind, recordType, { header, rows })
    const mapping = Object.fromEntries(
      proposed.flatMap(({ path, rule }) => (path === null || rule === null ? [] : [[path, rule]])),
    )
    expect(Object.keys(mapping).length).toBeGreaterThanOrEqual(5)
    readColumnMapping(mapping, { kind, recordTypes: [recordType] })
  },
)

it('every row of the tables of names is of an attribute, a member or an identifier type of some kind', () => {
  const kinds = ['civil', 'ibr', 'ess', 'social', 'disability', 'farmer'].map(kindOf)
  const types = kinds.flatMap(({ record_types }) => record_types)
  const known = new Set(types.flatMap((type) => type.attributes.map(({ name }) => name)))
  for (const { path } of types.flatMap(listValuePaths)) known.add(path.slice(path.lastIndexOf('.') + 1))
  expect(Object.keys(ATTRIBUTE_COLUMN_NAMES).filter((name) => !known.has(name))).toEqual([])
  const identifiers = new Set(kinds.flatMap((kind) => kind.identifier_types.map(({ name }) => name)))
  expect(Object.keys(IDENTIFIER_COLUMN_NAMES).filter((name) => !identifiers.has(name))).toEqual([])
})
