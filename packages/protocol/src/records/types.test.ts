import { expect, expectTypeOf, it } from 'vitest'
import { KINDS } from '../kinds/index.ts'
import { type Group, type Person, RECORD_SCHEMAS } from './types.ts'

it('every record type of every kind has the type of its schema', () => {
  const schemas = KINDS.map(({ name, record_types }) => [
    name,
    Object.fromEntries(record_types.map((type) => [type.name, type.schema])),
  ])
  expect(RECORD_SCHEMAS).toEqual(Object.fromEntries(schemas))
  for (const { name, record_types } of KINDS) {
    const named: Readonly<Record<string, unknown>> = RECORD_SCHEMAS[name as keyof typeof RECORD_SCHEMAS]
    for (const type of record_types) expect(named[type.name]).toBe(type.schema)
  }
})

it('records have types down to their leaves', () => {
  expectTypeOf<Person['birth_date']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<NonNullable<Person['name']>['given_name']>().toEqualTypeOf<string | undefined>()
  type Listed = NonNullable<Group['member_list']>[number]
  type Identifiers = NonNullable<Listed['member_identifier']>
  expectTypeOf<Identifiers[number]['identifier_type']>().toEqualTypeOf<string | undefined>()
  expectTypeOf<NonNullable<Group['group_head_info']>['is_disabled']>().toEqualTypeOf<boolean | undefined>()
})
