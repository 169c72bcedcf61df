import { expect, it } from 'vitest'
import type { JsonValue } from '../json.ts'
import { civil } from '../kinds/civil.ts'
import type { Attribute, AttributeType } from '../kinds/kind.ts'
import { READER_VERSIONS, SCALAR_READERS } from './attribute-types.ts'
import { readIdentifiers } from './read-identifiers.ts'
import { attributeRules, compoundRules, identifierRules } from './reading-rules.ts'

const SAMPLES: readonly JsonValue[] = [
  ' \u00c9lodie\u00a0  O\u2019Brien ',
  '\u0141\u00f3d\u017a',
  '\u0645\u064f\u062d\u0640\u0645\u062f',
  'x'.repeat(513).replace(/x{500}/, '-'),
  'F',
  '12.06.1985',
  '1985-06',
  '2024-06-30T23:30:00-05:00',
  '1e2',
  'TRUE',
  'Gro\u1e9e',
  420,
]

const made = (attribute: Partial<Attribute> & { type: AttributeType }): unknown[] =>
  SAMPLES.map((raw) => SCALAR_READERS[attribute.type](raw, { name: 'a', paths: ['a'], ...attribute }))

/**
 * A change of one of these makes columns wrong that were filled before. Raise the type's version in READER_VERSIONS, or
 * IDENTIFIERS_VERSION, together with the expectation here: the columns are then filled anew.
 */
it('readers make of samples what their versions say', () => {
  expect(READER_VERSIONS).toEqual({ text: 3, code: 3, date: 1, datetime: 1, number: 1, boolean: 1, age: 1 })
  expect(made({ type: 'text', fold: true })).toMatchSnapshot('text, folded, 3')
  expect(made({ type: 'text' })).toMatchSnapshot('text, 3')
  expect(made({ type: 'code', codes: 'sex' })).toMatchSnapshot('code, 3')
  expect(made({ type: 'date' })).toMatchSnapshot('date, 1')
  expect(made({ type: 'datetime' })).toMatchSnapshot('datetime, 1')
  expect(made({ type: 'number' })).toMatchSnapshot('number, 1')
  expect(made({ type: 'boolean' })).toMatchSnapshot('boolean, 1')
  const [person] = civil.record_types
  const document = {
    identifier: [
      { identifier_type: 'UIN', identifier_value: ' ab 1' },
      { identifier_type: 'Passport', identifier_value: 'p 1' },
    ],
    phone_number: ['+999 555 0101'],
    email: 'A@B.example',
  }
  expect(identifierRules(civil, person)).toMatchObject({ version: 3 })
  expect(readIdentifiers(civil, person, document)).toMatchSnapshot('identifiers, 3')
})

it('rules change with a path, a spelling, a code list, folding and the version', () => {
  const surname: Attribute = { name: 'surname', paths: ['name.surname'], type: 'text' }
  const rules = (more: Partial<Attribute>) => JSON.stringify(attributeRules({ ...surname, ...more }))
  expect(rules({})).toContain('surname|sur_name|last_name|family_name')
  expect(rules({})).toContain('"version":3')
  const changed = [
    rules({ paths: ['name.surname', 'surname'] }),
    rules({ fold: true }),
    rules({ type: 'code', codes: 'sex' }),
    rules({ type: 'code', codes: 'group_type' }),
    rules({ many: true }),
  ]
  expect(new Set([...changed, rules({})]).size).toBe(6)
  expect(rules({ indexed: true, sortable: true, aliases: ['family'] })).toBe(rules({}))
})

it('rules of a list change with its paths and its members', () => {
  const rules = (paths: string[], members: Attribute[]) => JSON.stringify(compoundRules({ name: 'l', paths, members }))
  const member: Attribute = { name: 'm', paths: ['m'], type: 'text' }
  const all = [
    rules(['l'], [member]),
    rules(['l', ''], [member]),
    rules(['l'], [{ ...member, fold: true }]),
    rules(['l'], [{ ...member, name: 'n' }]),
  ]
  expect(new Set(all).size).toBe(4)
})
