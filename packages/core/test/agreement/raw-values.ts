/** Values for generated records and queries: few of each type, so that a query often finds a record. */
import { type Attribute, CODE_LISTS, type IdentifierType, type JsonValue } from '@rollcall/protocol'

/** The days on which generated queries for ages are asked: ordinary days, days around leap days, an early year. */
export const TODAYS = ['2026-11-21', '2026-02-28', '2026-03-01', '2028-02-29', '2026-12-31', '2027-01-01', '0899-06-15'] as const

const TEXTS: readonly JsonValue[] = [
  ...['Okoro', 'okoro', 'OKORO ', 'oko', 'ok', 'o', 'r', "O'Brien", 'a%b', 'a_b', '%', '\\', '\\%', '"', '{a,b}'],
  ...['Élodie', 'E\u0301lodie', 'elodie', '\u0301', 'Straße', 'STRASSE', 'İ', 'ı', 'Σίσυφος', 'กำ', 'क्ष', 'क'],
  // By UTF-16 units, the texts beyond U+FFFF would sort before U+E000; by code points they come last.
  ...['\ud7ff', '\ue000', '\uffff', '\u{10000}', '\u{1f600}', '\u{1f600}a', '\u{1f601}'],
  ...['NULL', 'null', ' ', 'a b', '\t', '\n', '0012', '12', 12, 1.5, 'x'.repeat(512), 'x'.repeat(513)],
]

const DATES: readonly JsonValue[] = [
  ...['1985', 1985, '1985-06', '1985-06-12', '12.06.1985', '1985-06-12T23:30:00-05:00', '1985-01-01', '1985-06-01', '1985-06-30'],
  ...['2004', '2004-02', '2004-02-28', '2004-02-29', '29.02.2004', '2004-03-01', '2003-02-28', '2003-03-01'],
  ...['2008-11-20', '2008-11-21', '2008-11-22', '2008-11', '2008', '2006-12-31', '2007-01-01', '2026', '2030'],
  ...['0001-01-01', '0001', '0001-06-15', '0001-06-16', '9999-12-31', '9999', '1985-02-31', 'unknown'],
]

const DATETIMES: readonly JsonValue[] = [
  ...['2024', '2024-06', '2024-06-30', '2024-06-30T00:00:00Z', '2024-06-30T23:59:59.999Z', '2024-07-01'],
  ...['2024-06-30T23:59:59.9999Z', '2024-07-01T00:00:00.000Z', '2024-07-01T01:00:00+02:00', '30.06.2024'],
  ...['2024-06-30T12:30:00', '2024-06-30T12:30Z', '0001-01-01', '9999-12-31T23:59:59.999Z', '2024-06-31', 'now'],
]

const NUMBERS: readonly JsonValue[] = [
  ...[0, -0, '0', 1, '1', '1.0', ' 2 ', 2.5, '2.50', -3, 100, '1e2', 0.1, '0.1', 0.30000000000000004, 0.3],
  ...[1e300, -1e300, 5e-324, 9007199254740991, 9007199254740992, '9007199254740993', 'many', '1e400'],
]

const AGES: readonly JsonValue[] = [0, 1, 17, 18, '18', 19, 20, 21, 22, 23, 24, 25, 40, 41, 898, 899, 1000]
const BOOLEANS: readonly JsonValue[] = [true, 'true', 'TRUE', 1, '1', false, 'false', 0, 'maybe']
const OPEN_CODES: readonly JsonValue[] = ['something else', 'Something Else', 'é', 'E\u0301', '\u{1f600}', 77, '77']

/** Texts with NUL, which no stored record has, but a query may ask for. */
const UNHELD_TEXTS: readonly JsonValue[] = ['\0', 'oko\0', 'o\0r', '1\0']

/** The values as queries write them. */
export function askedValues(attribute: Attribute): readonly JsonValue[] {
  const isText = attribute.type === 'text' || attribute.type === 'code'
  return isText ? [...rawValues(attribute), ...UNHELD_TEXTS] : rawValues(attribute)
}

/** JSON values that are read as missing, whatever the type of the attribute. */
export const NOTHING: readonly JsonValue[] = [null, '', {}, [], [['a']], { name: null }]

/** The values as documents write them. */
export function rawValues(attribute: Attribute): readonly JsonValue[] {
  switch (attribute.type) {
    case 'text':
      return TEXTS
    case 'code':
      return [...codes(attribute), ...OPEN_CODES]
    case 'date':
      return DATES
    case 'datetime':
      return DATETIMES
    case 'number':
      return NUMBERS
    case 'boolean':
      return BOOLEANS
    case 'age':
      return AGES
  }
}

/** The first codes of the list, each in several spellings. */
function codes({ codes: list }: Attribute): readonly string[] {
  if (list === undefined) return []
  return CODE_LISTS[list].slice(0, 4).flatMap(([code, label]) => [code, label, label.toUpperCase(), `spdci:${label}`])
}

const IDENTIFIERS: Readonly<Record<IdentifierType['normaliser'], readonly JsonValue[]>> = {
  code: ['A1', 'a 1', 'B-2', '0012', '12', 12, 'É9', '\u{1f600}'],
  phone: ['+15550100', '+1 555-0100', '15550100', '0155', 155],
  email: ['a@example.org', 'A@Example.ORG', 'b@example.org'],
  exact: ['A1', ' A1 ', 'a1', 'É', 'E\u0301'],
}

export function rawIdentifiers(type: IdentifierType): readonly JsonValue[] {
  return IDENTIFIERS[type.normaliser]
}
