import { kindNamed, type RecordType } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { type KindAndRecordTypes, readColumnMapping } from './column-mapping.ts'
import { cellProblems, createRowReader } from './row-documents.ts'
import { ImportError } from './source.ts'

function recordsOf(name: string): KindAndRecordTypes {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error(`there is no kind ${name}`)
  return { kind, recordTypes: kind.record_types }
}

const civil = recordsOf('civil')

/** The document that a row of these cells, by column, becomes. */
function built(mapping: object, cells: Readonly<Record<string, string>>, records: KindAndRecordTypes | null = civil) {
  const rows = createRowReader(readColumnMapping(mapping, records), Object.keys(cells))
  const { document, cells: read } = rows.read(Object.values(cells))
  return cellProblems(read)[0] ?? document
}

test('cells go where their paths say, empty ones nowhere, a constant into every row', () => {
  const mapping = {
    'identifier[UIN]': 'No',
    'identifier[BIRTH_REG_NO]': 'Birth no',
    'name.given_name': 'Given',
    'name.surname': 'Family',
    birth_date: { column: 'DOB', format: 'dd/MM/yyyy' },
    '@type': { value: 'Person' },
  }
  const cells = { Given: 'Asha', ' No ': '0012', Unused: 'x', Family: ' ', 'Birth no': 'B-7', DOB: '31/12/1990' }
  expect(built(mapping, cells)).toEqual({
    identifier: [
      { identifier_type: 'UIN', identifier_value: '0012' },
      { identifier_type: 'BRN', identifier_value: 'B-7' },
    ],
    name: { given_name: 'Asha' },
    birth_date: '1990-12-31',
    '@type': 'Person',
  })
  const empty = { Given: '', ' No ': '', Family: '', 'Birth no': '', DOB: ' ' }
  expect(built(mapping, empty)).toEqual({ '@type': 'Person' })
})

test('a code that stands for "?" is refused: a person must write what it means', () => {
  const sex = { column: 'Sex', codes: { F: 'female', X: '?' } }
  expect(() => readColumnMapping({ 'identifier[UIN]': 'No', sex }, civil)).toThrow(
    new ImportError('the column mapping of sex.codes.X: stands for "?"; write what it means'),
  )
})

test('columns may have the names of members that every object has', () => {
  const mapping = { 'name.surname': 'constructor', sex: 'toString' }
  expect(built(mapping, { constructor: 'c', toString: 'f' })).toEqual({ name: { surname: 'c' }, sex: 'f' })
})

test('a list is made where the schema has one, and one value where it has one', () => {
  const mapping = {
    phone_number: { column: 'Phones', split: ';' },
    email: 'Email',
    'parent1_identifier[UIN]': 'Mother',
    'identifier[MOBILE]': { column: 'Phones', split: ';' },
  }
  expect(built(mapping, { Phones: '0123; ;4567;', Email: 'a@b.example', Mother: 'M1' })).toEqual({
    phone_number: ['0123', '4567'],
    email: ['a@b.example'],
    parent1_identifier: { identifier_type: 'UIN', identifier_value: 'M1' },
    identifier: [
      { identifier_type: 'MOBILE', identifier_value: '0123' },
      { identifier_type: 'MOBILE', identifier_value: '4567' },
    ],
  })
  const elements = { 'disability_details.impairment_type': 'Type', 'disability_details.age_on_set': 'Onset' }
  expect(built(elements, { Type: '1', Onset: '0' }, recordsOf('disability'))).toEqual({
    disability_details: [{ impairment_type: '1', age_on_set: '0' }],
  })
})

const sex = { column: 'Sex', codes: { '1': 'male', '2': 'female' } }

test('codes are exchanged; what they do not list is a problem, kept or omitted', () => {
  expect(built({ sex }, { Sex: ' 2 ' })).toEqual({ sex: 'female' })
  const problem = 'sex (column Sex): must be a value that the codes of the mapping list'
  expect(built({ sex }, { Sex: '9' })).toBe(problem)
  expect(built({ sex: { ...sex, unlisted: 'reject' } }, { Sex: '9' })).toBe(problem)
  expect(built({ sex: { ...sex, unlisted: 'keep' } }, { Sex: '9' })).toEqual({ sex: '9' })
  expect(built({ sex: { ...sex, unlisted: 'omit' } }, { Sex: '9' })).toEqual({})
})

test('a date that is not of the format is a problem, named by path, column and rule', () => {
  const mapping = { birth_date: { column: 'DOB', format: 'dd/MM/yyyy' } }
  const problem = 'birth_date (column DOB): must be a date of the format dd/MM/yyyy'
  for (const cell of ['12/31/1990', '31/12/90', '1990-12-31', '30/02/1990']) {
    expect(built(mapping, { DOB: cell })).toBe(problem)
  }
})

test('other spellings of a member, prefixes, additions of the operator and open objects are paths too', () => {
  const [person] = civil.kind.record_types
  const shoe = { name: 'shoe_size', paths: ['body.shoe_size'], type: 'number' } as const
  const added: RecordType = { ...person, attributes: [...person.attributes, shoe] }
  const cells = { A: 'f', B: '1990', C: '42' }
  expect(built({ gender: 'A', 'spdci:dob': 'B', 'body.shoe_size': 'C' }, cells, { ...civil, recordTypes: [added] })).toEqual({
    gender: 'f',
    'spdci:dob': '1990',
    body: { shoe_size: '42' },
  })
  const social = recordsOf('social')
  expect(built({ 'additional_attributes.water.source': 'A' }, { A: 'well' }, social)).toEqual({
    additional_attributes: [{ water: { source: 'well' } }],
  })
})

test('for a registry elsewhere any path is accepted', () => {
  expect(built({ 'a.b': 'A', 'c[X]': 'B' }, { A: '1', B: '2' }, null)).toEqual({
    a: { b: '1' },
    c: [{ identifier_type: 'X', identifier_value: '2' }],
  })
})

const OBJECT = 'the column mapping must be a JSON object such as {"name.given_name": "Given name", "identifier[UIN]": "Number"}'
const PATHS = 'must be a path such as name.given_name or identifier[UIN]'

test.each([
  [['a'], OBJECT],
  [null, OBJECT],
  [{}, 'the column mapping is empty; name at least one path'],
  [{ sex: 7 }, 'the column mapping of sex: must be the name of a column, or an object with column or value'],
  [{ sex: '' }, 'the column mapping of sex: must not be empty'],
  [{ '': 'A' }, `the column mapping of : ${PATHS}`],
  [{ 'a..b': 'A' }, `the column mapping of a..b: ${PATHS}`],
  [{ 'a[]': 'A' }, `the column mapping of a[]: ${PATHS}`],
  [{ '__proto__.x': 'A' }, `the column mapping of __proto__.x: ${PATHS}`],
  [{ birthdat: 'A' }, 'the column mapping of birthdat: Person has no such path; the nearest is birth_date'],
  [{ DOB: 'A' }, 'the column mapping of DOB: Person has no such path; the nearest is birth_date'],
  [{ given_name: 'A' }, 'the column mapping of given_name: Person has no such path; the nearest is name.given_name'],
  [{ 'person.surname': 'A' }, 'the column mapping of person.surname: Person has no such path; the nearest is name.surname'],
  [{ shoe_size: 'A' }, 'the column mapping of shoe_size: Person has no such path; docs/kinds lists the paths'],
  [{ name: 'A' }, 'the column mapping of name: an object stands there, not a value; name one of its members'],
  [
    { parent1_identifier: 'A' },
    'the column mapping of parent1_identifier: an object stands there, not a value; name its type, such as parent1_identifier[UIN]',
  ],
  [{ 'sex[UIN]': 'A' }, 'the column mapping of sex[UIN]: no identifier stands there; write the path without brackets'],
  [
    { 'identifier[UNI]': 'A' },
    'the column mapping of identifier[UNI]: the registry has no identifier type UNI; the nearest is UIN; it has UIN, BRN, MRN, DRN, NID, OPENCRVS_RECORD_ID, MOBILE, EMAIL',
  ],
  [{ sex: 'x', gender: 'y' }, 'the column mapping has sex and gender: they are the same, or one is inside the other'],
  [
    { birth_place: 'x', 'birth_place.name': 'y' },
    'the column mapping has birth_place and birth_place.name: they are the same, or one is inside the other',
  ],
  [
    { identifier: 'x', 'identifier[UIN]': 'y' },
    'the column mapping has identifier and identifier[UIN]: they are the same, or one is inside the other',
  ],
  [
    { 'identifier[UIN]': 'x', 'identifier[uin]': 'y' },
    'the column mapping has identifier[UIN] and identifier[uin]: they are the same, or one is inside the other',
  ],
  [{ sex: { value: 'f' } }, 'the column mapping has constants alone; name at least one column'],
  [
    { 'Given name': 'name.given_name', No: 'identifier[UIN]' },
    'the column mapping is the other way round: write the path first, such as {"name.given_name": "Given name", "identifier[UIN]": "Number"}',
  ],
  [
    { birth_date: { column: 'A', fromat: 'dd/MM/yyyy' } },
    'the column mapping of birth_date.fromat: is no member; the members are column, format, codes, unlisted, split; the nearest is format',
  ],
  [
    { birth_date: { value: '1990', column: 'A' } },
    'the column mapping of birth_date.column: is no member; the members are value',
  ],
  [
    { birth_date: { column: 'A', format: 'dd/mm/yyyy' } },
    'the column mapping of birth_date.format: has no month: mm means minutes; write MM for the month',
  ],
  [
    { birth_date: { column: 'A', format: ['dd/MM/yyyy', 'yy-MM-dd'] } },
    'the column mapping of birth_date.format: yy-MM-dd: yy is ambiguous: a date needs a year of four digits, written yyyy',
  ],
  [{ 'name.given_name': 'A', duplicates: 'first' }, 'the column mapping of duplicates: must be one of reject, last'],
  [{ sex: { column: 'A', format: 'dd/MM/yyyy' } }, 'the column mapping of sex.format: is for dates, and sex is of type code'],
  [
    { birth_date: { column: 'A', format: 'dd/MM/yyyy', codes: { a: 'b' } } },
    'the column mapping of birth_date: has format and codes; name one',
  ],
  [{ sex: { column: 'A', unlisted: 'keep' } }, 'the column mapping of sex.unlisted: needs codes'],
  [
    { sex: { column: 'A', codes: { a: 'b' }, unlisted: 'drop' } },
    'the column mapping of sex.unlisted: must be one of reject, keep, omit',
  ],
  [{ sex: { column: 'A', codes: {} } }, 'the column mapping of sex.codes: must not have fewer than 1 properties'],
  [{ birth_date: { column: 'A', codes: { x: 'soon' } } }, 'the column mapping of birth_date.codes.x: is no value of type date'],
  [{ birth_date: { value: 'soon' }, sex: 'A' }, 'the column mapping of birth_date.value: is no value of type date'],
  [{ sex: { column: 'A', split: ';' } }, 'the column mapping of sex.split: makes a list, and one value alone stands there'],
])('mapping %j is refused', (mapping, reason) => {
  expect(() => readColumnMapping(mapping, civil)).toThrow(new ImportError(reason))
})

test.each([
  [['SXE', 'Name'], 'the file has no column Sex, which the column mapping names for sex; the nearest is SXE'],
  [['Name'], 'the file has no column Sex, which the column mapping names for sex'],
  [['_SEX', 'NAME'], 'the file has no column Sex, which the column mapping names for sex; the nearest is _SEX'],
  // No column is there: these may be the values of a person.
  [['Sexy', 'Nam'], 'the file has no column Sex, which the column mapping names for sex'],
  [['Sex', 'Sex'], 'the file has more than one column Sex; rename the others in its header line'],
])('header %j is refused', (header, reason) => {
  const columns = readColumnMapping({ sex: 'Sex', 'name.surname': 'Name' }, civil)
  expect(() => createRowReader(columns, header)).toThrow(new ImportError(reason))
})
