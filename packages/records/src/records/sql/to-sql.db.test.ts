import { expect, test } from 'vitest'
import { type SqlCase, testSql } from '../../../../keys/test/to-sql.ts'
import { alive, and, exists, hasIdentifier, is, not, or, sex, surname, table } from '../../../test/query-fixture.ts'
import { predicateToSql } from './to-sql.ts'

const CASES: readonly SqlCase[] = [
  [
    and(is(sex, 'eq', 'f'), or(is(alive, 'eq', false), not(is(surname, 'eq', 'x')))),
    ['(record."sex" = $1 and (record."alive" = $2::boolean or record."surname" <> $3))', ['f', false, 'x'], [1]],
    ['(record."sex" <> $1 or (record."alive" <> $2::boolean and record."surname" = $3))', ['f', false, 'x'], [2]],
  ],
  [
    not(or(is(sex, 'eq', 'f'), not(exists(surname)))),
    ['(record."sex" <> $1 and record."surname" is not null)', ['f'], [2]],
    ['(record."sex" = $1 or record."surname" is null)', ['f'], [1, 3]],
  ],
  [
    hasIdentifier(['UIN', 'U1']),
    [
      'record.id = any(array(select identifier.record from "r1_test_person_identifier" as identifier where identifier.type = $1 and identifier.value = $2))',
      ['UIN', 'U1'],
      [1],
    ],
    [
      '(select bool_and(not (identifier.type = $2 and identifier.value = $3)) from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[]))',
      [['UIN'], 'UIN', 'U1'],
      [2, 3],
    ],
  ],
  [
    hasIdentifier(['MOBILE', '15550102']),
    [
      'record.id = any(array(select identifier.record from "r1_test_person_identifier" as identifier where identifier.type = $1 and identifier.value = $2))',
      ['MOBILE', '15550102'],
      [2],
    ],
    [
      '(select bool_and(not (identifier.type = $2 and identifier.value = $3)) from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[]))',
      [['MOBILE'], 'MOBILE', '15550102'],
      [1],
    ],
  ],
  [
    hasIdentifier(['UIN', 'U1'], ['MOBILE', '15550102']),
    [
      'record.id = any(array(select identifier.record from "r1_test_person_identifier" as identifier where (identifier.type, identifier.value) in (select type, value from unnest($1::text[], $2::text[]) as asked(type, value))))',
      [
        ['UIN', 'MOBILE'],
        ['U1', '15550102'],
      ],
      [1, 2],
    ],
    [
      '(select bool_and(not ((identifier.type, identifier.value) in (select type, value from unnest($2::text[], $3::text[]) as asked(type, value)))) from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[]))',
      [
        ['UIN', 'MOBILE'],
        ['UIN', 'MOBILE'],
        ['U1', '15550102'],
      ],
      [3],
    ],
  ],
  [
    hasIdentifier(['MOBILE', '\0']),
    ['false', [], []],
    [
      'exists (select 1 from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[]))',
      [['MOBILE']],
      [1, 2],
    ],
  ],
  [
    { is: 'identifier_type', types: ['MOBILE'] },
    [
      'exists (select 1 from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[]))',
      [['MOBILE']],
      [1, 2],
    ],
    [
      'not exists (select 1 from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[]))',
      [['MOBILE']],
      [3],
    ],
  ],
  [
    or(hasIdentifier(['UIN', 'U1']), is(surname, 'eq', 'abd')),
    [
      '(record.id = any(array(select identifier.record from "r1_test_person_identifier" as identifier where identifier.type = $1 and identifier.value = $2)) or record."surname" = $3)',
      ['UIN', 'U1', 'abd'],
      [1, 2],
    ],
    [
      '((select bool_and(not (identifier.type = $2 and identifier.value = $3)) from "r1_test_person_identifier" as identifier where identifier.record = record.id and identifier.type = any($1::text[])) and record."surname" <> $4)',
      [['UIN'], 'UIN', 'U1', 'abd'],
      [],
    ],
  ],
]

testSql(CASES)

test('nothing that is looked for stands in the text', () => {
  const nasty = `'; drop table x; -- " $1 \\`
  const all = and(is(surname, 'contains', nasty), hasIdentifier(['UIN', nasty]), not(is(sex, 'eq', nasty)))
  expect(predicateToSql(all, table).text).not.toContain('drop')
  expect(predicateToSql(all, table).values).toEqual([nasty, 'UIN', nasty, nasty])
})
