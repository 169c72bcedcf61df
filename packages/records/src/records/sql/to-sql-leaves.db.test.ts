import type { Predicate } from '@rollcall/core/model/predicate'
import type { Attribute } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { type SqlCase, testSql } from '../../../../keys/test/to-sql.ts'
import { alive, born, days, exists, is, oneOf, score, seen, sex, surname, table, times } from '../../../test/query-fixture.ts'
import { predicateToSql } from './to-sql.ts'

const CASES: readonly SqlCase[] = [
  [is(surname, 'eq', 'abc'), ['record."surname" = $1', ['abc'], [1]], ['record."surname" <> $1', ['abc'], [2]]],
  [is(surname, 'lt', 'abc'), ['record."surname" < $1', ['abc'], []], ['record."surname" >= $1', ['abc'], [1, 2]]],
  [is(surname, 'le', 'abc'), ['record."surname" <= $1', ['abc'], [1]], ['record."surname" > $1', ['abc'], [2]]],
  [is(surname, 'gt', 'abc'), ['record."surname" > $1', ['abc'], [2]], ['record."surname" <= $1', ['abc'], [1]]],
  [is(surname, 'ge', 'abc'), ['record."surname" >= $1', ['abc'], [1, 2]], ['record."surname" < $1', ['abc'], []]],
  [
    is(surname, 'starts_with', 'abc'),
    ['(record."surname" >= $1 and record."surname" < $2)', ['abc', 'abd'], [1]],
    ['(record."surname" < $1 or record."surname" >= $2)', ['abc', 'abd'], [2]],
  ],
  [
    is(surname, 'contains', 'bc'),
    ['strpos(record."surname", $1) > 0', ['bc'], [1]],
    ['strpos(record."surname", $1) = 0', ['bc'], [2]],
  ],
  [is(sex, 'eq', 'f'), ['record."sex" = $1', ['f'], [1]], ['record."sex" <> $1', ['f'], [2]]],
  [is(alive, 'eq', true), ['record."alive" = $1::boolean', [true], [1]], ['record."alive" <> $1::boolean', [true], [2]]],
  [
    is(score, 'eq', 1.5),
    ['record."score" = $1::double precision', [1.5], [1]],
    ['record."score" <> $1::double precision', [1.5], [2]],
  ],
  [
    is(score, 'lt', 1.5),
    ['record."score" < $1::double precision', [1.5], []],
    ['record."score" >= $1::double precision', [1.5], [1, 2]],
  ],
  [
    is(score, 'le', 1.5),
    ['record."score" <= $1::double precision', [1.5], [1]],
    ['record."score" > $1::double precision', [1.5], [2]],
  ],
  [
    is(score, 'gt', 1.5),
    ['record."score" > $1::double precision', [1.5], [2]],
    ['record."score" <= $1::double precision', [1.5], [1]],
  ],
  [
    is(score, 'ge', 1.5),
    ['record."score" >= $1::double precision', [1.5], [1, 2]],
    ['record."score" < $1::double precision', [1.5], []],
  ],
  [
    is(born, 'eq', days('1985-06-12')),
    ['(record."born_from" between $1::date and $2::date and record."born_to" <= $2::date)', ['1985-06-12', '1985-06-12'], [2]],
    [
      '((record."born_from" < $1::date and record."born_to" < $1::date) or record."born_from" > $2::date)',
      ['1985-06-12', '1985-06-12'],
      [],
    ],
  ],
  [
    is(born, 'lt', days('1985-06-12')),
    ['(record."born_from" < $1::date and record."born_to" < $1::date)', ['1985-06-12'], []],
    ['record."born_from" >= $1::date', ['1985-06-12'], [2]],
  ],
  [
    is(born, 'le', days('1985-06-12')),
    ['(record."born_from" <= $1::date and record."born_to" <= $1::date)', ['1985-06-12'], [2]],
    ['record."born_from" > $1::date', ['1985-06-12'], []],
  ],
  [
    is(born, 'gt', days('1985-06-12')),
    ['record."born_from" > $1::date', ['1985-06-12'], []],
    ['(record."born_from" <= $1::date and record."born_to" <= $1::date)', ['1985-06-12'], [2]],
  ],
  [
    is(born, 'ge', days('1985-06-12')),
    ['record."born_from" >= $1::date', ['1985-06-12'], [2]],
    ['(record."born_from" < $1::date and record."born_to" < $1::date)', ['1985-06-12'], []],
  ],
  [
    is(born, 'eq', days('1985-06-01', '1985-06-30')),
    ['(record."born_from" between $1::date and $2::date and record."born_to" <= $2::date)', ['1985-06-01', '1985-06-30'], [1, 2]],
    [
      '((record."born_from" < $1::date and record."born_to" < $1::date) or record."born_from" > $2::date)',
      ['1985-06-01', '1985-06-30'],
      [],
    ],
  ],
  [
    is(born, 'le', days('1985-06-01', '1985-06-30')),
    ['(record."born_from" <= $1::date and record."born_to" <= $1::date)', ['1985-06-30'], [1, 2]],
    ['record."born_from" > $1::date', ['1985-06-30'], []],
  ],
  [
    is(seen, 'eq', times('00:00:00.000', '23:59:59.999')),
    [
      'record."seen" between $1::timestamp with time zone and $2::timestamp with time zone',
      ['2024-01-01T00:00:00.000Z', '2024-01-01T23:59:59.999Z'],
      [1],
    ],
    [
      '(record."seen" < $1::timestamp with time zone or record."seen" > $2::timestamp with time zone)',
      ['2024-01-01T00:00:00.000Z', '2024-01-01T23:59:59.999Z'],
      [2],
    ],
  ],
  [
    is(seen, 'lt', times('00:00:00.000', '23:59:59.999')),
    ['record."seen" < $1::timestamp with time zone', ['2024-01-01T00:00:00.000Z'], []],
    ['record."seen" >= $1::timestamp with time zone', ['2024-01-01T00:00:00.000Z'], [1, 2]],
  ],
  [
    is(seen, 'le', times('00:00:00.000', '23:59:59.999')),
    ['record."seen" <= $1::timestamp with time zone', ['2024-01-01T23:59:59.999Z'], [1]],
    ['record."seen" > $1::timestamp with time zone', ['2024-01-01T23:59:59.999Z'], [2]],
  ],
  [
    is(seen, 'gt', times('00:00:00.000', '23:59:59.999')),
    ['record."seen" > $1::timestamp with time zone', ['2024-01-01T23:59:59.999Z'], [2]],
    ['record."seen" <= $1::timestamp with time zone', ['2024-01-01T23:59:59.999Z'], [1]],
  ],
  [
    is(seen, 'ge', times('00:00:00.000', '23:59:59.999')),
    ['record."seen" >= $1::timestamp with time zone', ['2024-01-01T00:00:00.000Z'], [1, 2]],
    ['record."seen" < $1::timestamp with time zone', ['2024-01-01T00:00:00.000Z'], []],
  ],
  [
    oneOf(surname, 'abc', 'x'),
    ['record."surname" = any($1::text[])', [['abc', 'x']], [1]],
    ['record."surname" <> all($1::text[])', [['abc', 'x']], [2]],
  ],
  [
    oneOf(score, 1.5, 7),
    ['record."score" = any($1::double precision[])', [[1.5, 7]], [1]],
    ['record."score" <> all($1::double precision[])', [[1.5, 7]], [2]],
  ],
  [
    oneOf(alive, true),
    ['record."alive" = any($1::boolean[])', [[true]], [1]],
    ['record."alive" <> all($1::boolean[])', [[true]], [2]],
  ],
  [
    oneOf(born, days('1985-06-12'), days('1999-01-01')),
    ['(record."born_from" = any($1::date[]) and record."born_to" = record."born_from")', [['1985-06-12', '1999-01-01']], [2]],
    [
      '(record."born_from" is not null and not exists (select 1 from unnest($1::date[], $2::date[]) as one(first, last) where one.first <= record."born_to" and one.last >= record."born_from"))',
      [
        ['1985-06-12', '1999-01-01'],
        ['1985-06-12', '1999-01-01'],
      ],
      [],
    ],
  ],
  [
    oneOf(born, days('1985-06-12'), days('1985-05-01', '1985-05-31'), days('1985-06-01', '1985-06-30')),
    [
      '((record."born_from" = any($5::date[]) and record."born_to" = record."born_from") or (record."born_from" between $1::date and $2::date and record."born_to" <= $2::date) or (record."born_from" between $3::date and $4::date and record."born_to" <= $4::date))',
      ['1985-05-01', '1985-05-31', '1985-06-01', '1985-06-30', ['1985-06-12']],
      [1, 2],
    ],
    [
      '(record."born_from" is not null and not exists (select 1 from unnest($1::date[], $2::date[]) as one(first, last) where one.first <= record."born_to" and one.last >= record."born_from"))',
      [
        ['1985-06-12', '1985-05-01', '1985-06-01'],
        ['1985-06-12', '1985-05-31', '1985-06-30'],
      ],
      [],
    ],
  ],
  [
    oneOf(seen, times('10:00:00.000')),
    ['record."seen" = any($1::timestamp with time zone[])', [['2024-01-01T10:00:00.000Z']], [1]],
    [
      '(record."seen" is not null and not exists (select 1 from unnest($1::timestamp with time zone[], $2::timestamp with time zone[]) as one(first, last) where one.first <= record."seen" and one.last >= record."seen"))',
      [['2024-01-01T10:00:00.000Z'], ['2024-01-01T10:00:00.000Z']],
      [2],
    ],
  ],
  [
    oneOf(seen, times('10:00:00.000'), times('00:00:00.000', '09:59:59.999')),
    [
      '(record."seen" = any($3::timestamp with time zone[]) or record."seen" between $1::timestamp with time zone and $2::timestamp with time zone)',
      ['2024-01-01T00:00:00.000Z', '2024-01-01T09:59:59.999Z', ['2024-01-01T10:00:00.000Z']],
      [1],
    ],
    [
      '(record."seen" is not null and not exists (select 1 from unnest($1::timestamp with time zone[], $2::timestamp with time zone[]) as one(first, last) where one.first <= record."seen" and one.last >= record."seen"))',
      [
        ['2024-01-01T10:00:00.000Z', '2024-01-01T00:00:00.000Z'],
        ['2024-01-01T10:00:00.000Z', '2024-01-01T09:59:59.999Z'],
      ],
      [2],
    ],
  ],
  [exists(surname), ['record."surname" is not null', [], [1, 2]], ['record."surname" is null', [], [3]]],
  [exists(born), ['record."born_from" is not null', [], [1, 2]], ['record."born_from" is null', [], [3]]],
  [
    is(surname, 'starts_with', '\u{10ffff}'),
    ['record."surname" >= $1', ['\u{10ffff}'], []],
    ['record."surname" < $1', ['\u{10ffff}'], [1, 2]],
  ],
  [is(surname, 'eq', 'abc\0'), ['false', [], []], ['record."surname" is not null', [], [1, 2]]],
  [is(surname, 'contains', '\ud800'), ['false', [], []], ['record."surname" is not null', [], [1, 2]]],
  [is(surname, 'starts_with', '\0'), ['false', [], []], ['record."surname" is not null', [], [1, 2]]],
  [is(surname, 'lt', 'abc\0d'), ['record."surname" <= $1', ['abc'], [1]], ['record."surname" > $1', ['abc'], [2]]],
  [is(surname, 'ge', 'ab\ud800'), ['record."surname" >= $1', ['ab\ue000'], []], ['record."surname" < $1', ['ab\ue000'], [1, 2]]],
  [oneOf(surname, '\0'), ['false', [], []], ['record."surname" is not null', [], [1, 2]]],
  [
    oneOf(surname, '\0', 'abc'),
    ['record."surname" = any($1::text[])', [['abc']], [1]],
    ['record."surname" <> all($1::text[])', [['abc']], [2]],
  ],
]

testSql(CASES)

test('what no reader of queries makes is an error', () => {
  const age: Attribute = { name: 'age', type: 'age', since: 'born', paths: [] }
  const message = (predicate: Predicate) => expect(() => predicateToSql(predicate, table))
  message(is(age, 'eq', 7)).toThrow('an age is compared as a birth date, which the day decides')
  message(is(sex, 'eq', 7)).toThrow('sex is a code and cannot be compared so')
  message(is(score, 'eq', '7')).toThrow('score is a number and cannot be compared so')
  message(is(score, 'contains', 7)).toThrow('score is a number and cannot be compared so')
  message(is(born, 'eq', '1985')).toThrow('born is a date and cannot be compared so')
  message(is(born, 'starts_with', days('1985-01-01'))).toThrow('born is a date and cannot be compared so')
  message(exists(age)).toThrow('age has no column')
})
