import { describe, expect, it } from 'vitest'
import { type AttributeAddition, additionProblem, extendKind } from './additions.ts'
import { kindNamed, resolveAttribute } from './index.ts'
import type { Attribute, Kind } from './kind.ts'
import { resolveSearchable } from './searchable.ts'

const social = kindNamed('social') as Kind
const [member, group] = social.record_types
const height: Attribute = { name: 'height', paths: ['body.height'], type: 'number' }

function addition(more: object, record_type = 'Member'): AttributeAddition {
  return { record_type, attribute: { ...height, ...more } }
}

describe('extendKind', () => {
  const extended = extendKind(social, [
    addition({ aliases: ['size_cm'], sortable: true }),
    addition({ name: 'sex', indexed: true }),
  ])
  const [extendedMember] = extended.record_types

  it('adds attributes, which are found as any other', () => {
    const found = resolveSearchable(extended, extendedMember, 'spdci:Size_CM')
    expect(found).toMatchObject({ is: 'attribute', attribute: { name: 'height' } })
    expect(resolveAttribute(extendedMember, 'body.height')?.name).toBe('height')
    expect(extendedMember.attributes).toHaveLength(member.attributes.length + 1)
  })

  it('switches on an index and changes nothing else of what is there', () => {
    const [before, after] = [member, extendedMember].map((type) => resolveAttribute(type, 'sex'))
    expect(before?.indexed).toBeUndefined()
    expect(after).toEqual({ ...before, indexed: true })
  })

  it('leaves the kind as it was, and what is not concerned the same object', () => {
    expect(resolveAttribute(member, 'height')).toBeUndefined()
    expect(extended.record_types[1]).toBe(group)
    expect(extendKind(social, [])).toBe(social)
  })

  it('indexes an attribute that was added before', () => {
    const twice = extendKind(social, [addition({}), addition({ indexed: true })])
    expect(resolveAttribute(twice.record_types[0], 'height')).toEqual({ ...height, indexed: true })
    const unchanged = extendKind(social, [addition({}), addition({})])
    expect(resolveAttribute(unchanged.record_types[0], 'height')).toEqual(height)
  })
})

describe('an addition is taken', () => {
  it.each([
    [{}],
    [{ type: 'text', fold: true, many: true, indexed: true, aliases: ['Size_CM'] }],
    [{ type: 'code', codes: 'sex' }],
    [{ paths: ['@type', 'a b.c-d'] }],
    [{ ...member.attributes.find(({ name }) => name === 'sex'), indexed: true }],
    [{ ...member.attributes.find(({ name }) => name === 'surname'), indexed: true }],
  ])('%j', (more) => {
    expect(additionProblem(social, addition(more))).toBeNull()
  })
})

describe('an addition is refused', () => {
  const NAME = 'name: must be 1 to 41 lower-case letters, digits and _, beginning with a letter'
  const RESERVED =
    'name: id, primary_identifier, document, created_at, updated_at, import_run, import_line, constructor are reserved'
  const WORDS = 'and, or, nor, not, where, query, expression, type, value mean something else in a query'
  const PATH = 'must be member names joined by dots, without prefixes, such as address.locality'

  it.each([
    ['a name in capitals', { name: 'Height' }, NAME],
    ['a name with a space', { name: 'body height' }, NAME],
    ['a name that begins with a digit', { name: '1st' }, NAME],
    ['a long name', { name: 'x'.repeat(42) }, NAME],
    ['no name', { name: undefined }, NAME],
    ['the name of a column', { name: 'id' }, RESERVED],
    ['the name of another column', { name: 'primary_identifier' }, RESERVED],
    ['the document', { name: 'document' }, RESERVED],
    ['a column of imports', { name: 'import_line' }, RESERVED],
    ['a time of writing', { name: 'updated_at' }, RESERVED],
    ['a name that every object bears', { name: 'constructor' }, RESERVED],
    [
      'a column that PostgreSQL has in every table',
      { name: 'xmin' },
      'name: tableoid, ctid, xmin, xmax, cmin, cmax are columns of every table',
    ],
    ['a word that joins conditions', { name: 'not' }, `name: ${WORDS}`],
    ['a word that holds a query', { name: 'query' }, `name: ${WORDS}`],
    ['such a word as an alias', { aliases: ['size', 'Or'] }, `aliases[1]: ${WORDS}`],
    ['the name of half a date', { name: 'birth_date_from' }, 'name: must not end in _from or _to'],
    ['an alias as a name', { name: 'gender' }, 'name: gender already means something in this record type'],
    ['an identifier', { name: 'uin' }, 'name: uin already means something in this record type'],
    ['a list', { name: 'functional_limitation' }, 'name: functional_limitation already means something in this record type'],
    [
      'an attribute of a list',
      { name: 'functional_severity' },
      'name: functional_severity already means something in this record type',
    ],
    ['an unknown type', { type: 'money' }, 'type: must be one of text, code, date, datetime, number, boolean'],
    ['an age', { type: 'age', paths: [] }, 'type: must be one of text, code, date, datetime, number, boolean'],
    [
      'what ages have',
      { since: 'birth_date' },
      'since: must be one of name, aliases, paths, type, codes, many, fold, indexed, sortable',
    ],
    ['a code list for a number', { codes: 'sex' }, 'codes: only for type code'],
    ['no path', { paths: [] }, 'paths: must be a list of 1 to 20 paths in the record'],
    ['a path alone', { paths: 'a.b' }, 'paths: must be a list of 1 to 20 paths in the record'],
    [
      'too many paths',
      { paths: Array.from({ length: 21 }, (_, n) => `p${n}`) },
      'paths: must be a list of 1 to 20 paths in the record',
    ],
    ['an empty path', { paths: ['a', ''] }, `paths[1]: ${PATH}`],
    ['a path with a gap', { paths: ['a..b'] }, `paths[0]: ${PATH}`],
    ['a path with an end', { paths: ['a.'] }, `paths[0]: ${PATH}`],
    ['a path with a prefix', { paths: ['spdci:a'] }, `paths[0]: ${PATH}`],
    ['a path with space around it', { paths: [' a'] }, `paths[0]: ${PATH}`],
    ['a path that is a number', { paths: [7] }, `paths[0]: ${PATH}`],
    ['a long path', { paths: ['x'.repeat(201)] }, `paths[0]: ${PATH}`],
    ['a path twice', { paths: ['a', 'a'] }, 'paths: must not repeat a path'],
    ['a flag that is text', { indexed: 'yes' }, 'indexed: must be true or left out'],
    ['a flag that is false', { many: false }, 'many: must be true or left out'],
    ['an order of many values', { many: true, sortable: true }, 'sortable: an attribute with many values cannot be sorted by'],
    ['a folded number', { fold: true }, 'fold: only text compares without case and accents'],
    ['an alias alone', { aliases: 'size' }, 'aliases: must be a list of at most 20 names'],
    [
      'too many aliases',
      { aliases: Array.from({ length: 21 }, (_, n) => `a${n}`) },
      'aliases: must be a list of at most 20 names',
    ],
    [
      'a dotted alias',
      { aliases: ['body.height'] },
      'aliases[0]: must be 1 to 64 letters, digits and _, beginning with a letter',
    ],
    ['an alias twice', { aliases: ['size', 'SIZE'] }, 'aliases[1]: repeats a name'],
    ['its own name as an alias', { aliases: ['Height'] }, 'aliases[0]: repeats a name'],
    ['an alias of another', { aliases: ['DOB'] }, 'aliases[0]: already means something in this record type'],
    [
      'a change of what is there',
      { name: 'sex', indexed: true },
      'sex: the record type has it already; only its index may be switched on',
    ],
    [
      'what is there as it is',
      { ...member.attributes.find(({ name }) => name === 'sex') },
      'sex: the record type has it already; only its index may be switched on',
    ],
    [
      'an index of an age',
      { ...member.attributes.find(({ name }) => name === 'age'), indexed: true },
      'age: nothing of it is stored; index birth_date',
    ],
  ])('%s', (_, more, problem) => {
    expect(additionProblem(social, addition(more))).toBe(problem)
  })

  it('of a record type that the kind has not', () => {
    expect(additionProblem(social, addition({}, 'Person'))).toBe('record_type: must be one of Member, Group')
    expect(additionProblem(social, addition({}, '__proto__'))).toBe('record_type: must be one of Member, Group')
  })

  it.each([['unknown_list'], [undefined], ['constructor']])('with the code list %j', (codes) => {
    expect(additionProblem(social, addition({ type: 'code', codes }))).toMatch(/^codes: must be one of sex, marital_status, /)
  })

  it.each([[null], ['height'], [[]], [7]])('where %j stands for the attribute', (attribute) => {
    const wrong = { record_type: 'Member', attribute } as unknown as AttributeAddition
    expect(additionProblem(social, wrong)).toBe('attribute: must be an object')
  })
})
