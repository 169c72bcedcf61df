import { expect, test } from 'vitest'
import { type SqlCase, testSql } from '../../../../keys/test/to-sql.ts'
import {
  and,
  area,
  crop,
  cropType,
  days,
  exists,
  is,
  married,
  not,
  oneOf,
  or,
  some,
  sown,
  table,
  tag,
  times,
  visit,
  watered,
} from '../../../test/query-fixture.ts'
import { predicateToSql } from './to-sql.ts'

const CASES: readonly SqlCase[] = [
  [
    some(tag, is(tag, 'eq', 'a')),
    ['record."tag" @> array[$1]::text[]', ['a'], [1]],
    ['(record."tag" is not null and not record."tag" @> array[$1]::text[])', ['a'], [2]],
  ],
  [
    some(tag, oneOf(tag, 'a', 'c')),
    ['record."tag" && $1::text[]', [['a', 'c']], [1, 2]],
    ['(record."tag" is not null and not record."tag" && $1::text[])', [['a', 'c']], []],
  ],
  [
    some(tag, is(tag, 'starts_with', 'b')),
    [
      'exists (select 1 from unnest(record."tag") as element("tag") where (element."tag" >= $1 and element."tag" < $2))',
      ['b', 'c'],
      [1],
    ],
    [
      '(select bool_and(((element."tag" < $1 or element."tag" >= $2)) is true) from unnest(record."tag") as element("tag"))',
      ['b', 'c'],
      [2],
    ],
  ],
  [
    some(tag, and(is(tag, 'eq', 'a'), is(tag, 'lt', 'c'))),
    [
      '(record."tag" @> array[$1]::text[] and exists (select 1 from unnest(record."tag") as element("tag") where (element."tag" = $2 and element."tag" < $3)))',
      ['a', 'a', 'c'],
      [1],
    ],
    [
      '(select bool_and(((element."tag" <> $1 or element."tag" >= $2)) is true) from unnest(record."tag") as element("tag"))',
      ['a', 'c'],
      [2],
    ],
  ],
  [
    some(tag, or(is(tag, 'eq', 'a'), is(tag, 'gt', 'b'))),
    [
      '(record."tag" @> array[$1]::text[] or exists (select 1 from unnest(record."tag") as element("tag") where element."tag" > $2))',
      ['a', 'b'],
      [1, 2],
    ],
    [
      '(select bool_and(((element."tag" <> $1 and element."tag" <= $2)) is true) from unnest(record."tag") as element("tag"))',
      ['a', 'b'],
      [],
    ],
  ],
  [
    some(tag, not(is(tag, 'eq', 'a'))),
    ['exists (select 1 from unnest(record."tag") as element("tag") where element."tag" <> $1)', ['a'], [1, 2]],
    ['(select bool_and((element."tag" = $1) is true) from unnest(record."tag") as element("tag"))', ['a'], []],
  ],
  [
    some(tag, is(tag, 'eq', '\0')),
    ['exists (select 1 from unnest(record."tag") as element("tag") where false)', [], []],
    ['(select bool_and((element."tag" is not null) is true) from unnest(record."tag") as element("tag"))', [], [1, 2]],
  ],
  [
    some(visit, is(visit, 'eq', times('10:00:00.000'))),
    ['record."visit" @> array[$1]::timestamp with time zone[]', ['2024-01-01T10:00:00.000Z'], [1]],
    [
      '(record."visit" is not null and not record."visit" @> array[$1]::timestamp with time zone[])',
      ['2024-01-01T10:00:00.000Z'],
      [2],
    ],
  ],
  [
    some(visit, is(visit, 'eq', times('00:00:00.000', '23:59:59.999'))),
    [
      'exists (select 1 from unnest(record."visit") as element("visit") where element."visit" between $1::timestamp with time zone and $2::timestamp with time zone)',
      ['2024-01-01T00:00:00.000Z', '2024-01-01T23:59:59.999Z'],
      [1],
    ],
    [
      '(select bool_and(((element."visit" < $1::timestamp with time zone or element."visit" > $2::timestamp with time zone)) is true) from unnest(record."visit") as element("visit"))',
      ['2024-01-01T00:00:00.000Z', '2024-01-01T23:59:59.999Z'],
      [2],
    ],
  ],
  [
    some(married, is(married, 'eq', days('2001-02-03'))),
    [
      '(record."married_from" @> array[$1]::date[] and exists (select 1 from unnest(record."married_from", record."married_to") as element("married_from", "married_to") where (element."married_from" between $2::date and $3::date and element."married_to" <= $3::date)))',
      ['2001-02-03', '2001-02-03', '2001-02-03'],
      [1, 2],
    ],
    [
      '(select bool_and((((element."married_from" < $1::date and element."married_to" < $1::date) or element."married_from" > $2::date)) is true) from unnest(record."married_from", record."married_to") as element("married_from", "married_to"))',
      ['2001-02-03', '2001-02-03'],
      [],
    ],
  ],
  [
    some(married, is(married, 'gt', days('2009-12-31'))),
    [
      'exists (select 1 from unnest(record."married_from", record."married_to") as element("married_from", "married_to") where element."married_from" > $1::date)',
      ['2009-12-31'],
      [1],
    ],
    [
      '(select bool_and(((element."married_from" <= $1::date and element."married_to" <= $1::date)) is true) from unnest(record."married_from", record."married_to") as element("married_from", "married_to"))',
      ['2009-12-31'],
      [2],
    ],
  ],
  [
    some(married, oneOf(married, days('2001-02-03'), days('1999-01-01'))),
    [
      '(record."married_from" && $1::date[] and exists (select 1 from unnest(record."married_from", record."married_to") as element("married_from", "married_to") where (element."married_from" = any($2::date[]) and element."married_to" = element."married_from")))',
      [
        ['2001-02-03', '1999-01-01'],
        ['2001-02-03', '1999-01-01'],
      ],
      [1, 2],
    ],
    [
      '(select bool_and(((element."married_from" is not null and not exists (select 1 from unnest($1::date[], $2::date[]) as one(first, last) where one.first <= element."married_to" and one.last >= element."married_from"))) is true) from unnest(record."married_from", record."married_to") as element("married_from", "married_to"))',
      [
        ['2001-02-03', '1999-01-01'],
        ['2001-02-03', '1999-01-01'],
      ],
      [],
    ],
  ],
  [exists(tag, tag), ['record."tag" is not null', [], [1, 2]], ['record."tag" is null', [], [3]]],
  [
    exists(cropType, crop),
    [`record."crop" @? '$[*]."crop_type"'`, [], [1, 2]],
    [`(record."crop" is null or not record."crop" @? '$[*]."crop_type"')`, [], [3]],
  ],
  [
    exists(sown, crop),
    [`record."crop" @? '$[*]."sown_from"'`, [], [1]],
    [`(record."crop" is null or not record."crop" @? '$[*]."sown_from"')`, [], [2, 3]],
  ],
  [
    some(crop, is(cropType, 'eq', 'rice')),
    ['record."crop" @> $1::jsonb', ['[{"crop_type":"rice"}]'], [1, 2]],
    [
      '(select bool_and((element."crop_type" <> $1) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where element."crop_type" is not null)',
      ['rice'],
      [],
    ],
  ],
  [
    some(crop, and(is(cropType, 'eq', 'rice'), is(area, 'eq', 2))),
    ['record."crop" @> $1::jsonb', ['[{"crop_type":"rice","area":2}]'], [2]],
    [
      '(select bool_and(((element."crop_type" <> $1 or element."area" <> $2::double precision)) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null))',
      ['rice', 2],
      [],
    ],
  ],
  [
    some(crop, and(is(cropType, 'eq', 'rice'), is(sown, 'eq', days('2024-03-01')))),
    ['record."crop" @> $1::jsonb', ['[{"crop_type":"rice","sown_from":"2024-03-01","sown_to":"2024-03-01"}]'], []],
    [
      '(select bool_and(((element."crop_type" <> $1 or ((element."sown_from" < $2::date and element."sown_to" < $2::date) or element."sown_from" > $3::date))) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "sown_from" date, "sown_to" date) where (element."crop_type" is not null or element."sown_from" is not null))',
      ['rice', '2024-03-01', '2024-03-01'],
      [],
    ],
  ],
  [
    some(crop, is(watered, 'eq', times('10:00:00.000'))),
    ['record."crop" @> $1::jsonb', ['[{"watered":"2024-01-01T10:00:00.000Z"}]'], []],
    [
      '(select bool_and(((element."watered" < $1::timestamp with time zone or element."watered" > $2::timestamp with time zone)) is true) from jsonb_to_recordset(record."crop") as element("watered" timestamp with time zone) where element."watered" is not null)',
      ['2024-01-01T10:00:00.000Z', '2024-01-01T10:00:00.000Z'],
      [1],
    ],
  ],
  [
    some(crop, is(sown, 'eq', days('2024-03-01', '2024-03-31'))),
    [
      'exists (select 1 from jsonb_to_recordset(record."crop") as element("sown_from" date, "sown_to" date) where (element."sown_from" between $1::date and $2::date and element."sown_to" <= $2::date))',
      ['2024-03-01', '2024-03-31'],
      [1],
    ],
    [
      '(select bool_and((((element."sown_from" < $1::date and element."sown_to" < $1::date) or element."sown_from" > $2::date)) is true) from jsonb_to_recordset(record."crop") as element("sown_from" date, "sown_to" date) where element."sown_from" is not null)',
      ['2024-03-01', '2024-03-31'],
      [],
    ],
  ],
  [
    some(crop, oneOf(cropType, 'maize', 'x')),
    ['record."crop" @> any($1::jsonb[])', [['[{"crop_type":"maize"}]', '[{"crop_type":"x"}]']], [1]],
    [
      '(select bool_and((element."crop_type" <> all($1::text[])) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where element."crop_type" is not null)',
      [['maize', 'x']],
      [2],
    ],
  ],
  [
    some(crop, and(oneOf(cropType, 'maize', 'x'), is(area, 'eq', 2))),
    ['record."crop" @> any($1::jsonb[])', [['[{"area":2,"crop_type":"maize"}]', '[{"area":2,"crop_type":"x"}]']], [1]],
    [
      '(select bool_and(((element."crop_type" <> all($1::text[]) or element."area" <> $2::double precision)) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null))',
      [['maize', 'x'], 2],
      [2],
    ],
  ],
  [
    some(crop, and(is(cropType, 'eq', 'rice'), is(area, 'gt', 1))),
    [
      '(record."crop" @> $1::jsonb and exists (select 1 from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" = $2 and element."area" > $3::double precision)))',
      ['[{"crop_type":"rice"}]', 'rice', 1],
      [2],
    ],
    [
      '(select bool_and(((element."crop_type" <> $1 or element."area" <= $2::double precision)) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null))',
      ['rice', 1],
      [],
    ],
  ],
  [
    some(crop, and(is(cropType, 'eq', 'rice'), oneOf(cropType, 'maize'))),
    [
      '(record."crop" @> $1::jsonb and exists (select 1 from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where (element."crop_type" = $2 and element."crop_type" = any($3::text[]))))',
      ['[{"crop_type":"rice"}]', 'rice', ['maize']],
      [],
    ],
    [
      '(select bool_and(((element."crop_type" <> $1 or element."crop_type" <> all($2::text[]))) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where element."crop_type" is not null)',
      ['rice', ['maize']],
      [1, 2],
    ],
  ],
  [
    some(crop, or(is(cropType, 'eq', 'maize'), is(area, 'gt', 2))),
    [
      '(record."crop" @> $1::jsonb or exists (select 1 from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" > $2::double precision))',
      ['[{"crop_type":"maize"}]', 2],
      [1],
    ],
    [
      '(select bool_and(((element."crop_type" <> $1 and element."area" <= $2::double precision)) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null))',
      ['maize', 2],
      [2],
    ],
  ],
  [
    some(crop, and(or(is(cropType, 'eq', 'maize'), is(area, 'eq', 1)), is(area, 'gt', 1))),
    [
      '((record."crop" @> $1::jsonb or record."crop" @> $2::jsonb) and exists (select 1 from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where ((element."crop_type" = $3 or element."area" = $4::double precision) and element."area" > $5::double precision)))',
      ['[{"crop_type":"maize"}]', '[{"area":1}]', 'maize', 1, 1],
      [1],
    ],
    [
      '(select bool_and((((element."crop_type" <> $1 and element."area" <> $2::double precision) or element."area" <= $3::double precision)) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null))',
      ['maize', 1, 1],
      [2],
    ],
  ],
  [
    some(crop, not(is(cropType, 'eq', 'rice'))),
    [
      'exists (select 1 from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where element."crop_type" <> $1)',
      ['rice'],
      [1],
    ],
    [
      '(select bool_and((element."crop_type" = $1) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where element."crop_type" is not null)',
      ['rice'],
      [2],
    ],
  ],
  [
    some(crop, is(cropType, 'eq', '\0')),
    ['exists (select 1 from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where false)', [], []],
    [
      '(select bool_and((element."crop_type" is not null) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C") where element."crop_type" is not null)',
      [],
      [1, 2],
    ],
  ],
  [
    some(crop, exists(area)),
    [
      'exists (select 1 from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" is not null and element."area" is not null)',
      [],
      [1, 2],
    ],
    [
      '((select bool_and((element."area" is null) is true) from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" is not null) or not exists (select 1 from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" is not null))',
      [],
      [3],
    ],
  ],
  [
    some(crop, not(exists(area))),
    [
      '(exists (select 1 from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" is not null and element."area" is null) or not exists (select 1 from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" is not null))',
      [],
      [3],
    ],
    [
      '(select bool_and((element."area" is not null) is true) from jsonb_to_recordset(record."crop") as element("area" double precision) where element."area" is not null)',
      [],
      [1, 2],
    ],
  ],
  [
    some(crop, and(is(cropType, 'eq', 'rice'), not(exists(area)))),
    [
      '(record."crop" @> $1::jsonb and exists (select 1 from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null) and (element."crop_type" = $2 and element."area" is null)))',
      ['[{"crop_type":"rice"}]', 'rice'],
      [1],
    ],
    [
      '(select bool_and(((element."crop_type" <> $1 or element."area" is not null)) is true) from jsonb_to_recordset(record."crop") as element("crop_type" text collate "C", "area" double precision) where (element."crop_type" is not null or element."area" is not null))',
      ['rice'],
      [2],
    ],
  ],
]

testSql(CASES)

test('an element is asked for its own attributes only', () => {
  expect(() => predicateToSql(some(crop, { is: 'identifier_type', types: ['UIN'] }), table)).toThrow(
    'an element is asked for its own attributes only',
  )
})
