/** Every kind of tampering with entries that are packed is found, and named. */
import { expect, test } from 'vitest'
import { places, tamper, twoChains } from '../../../settings/test/tampering.ts'

type Place = { readonly chain: string; readonly other: string }

const entry = (chain: string, sequence: number): string => `chain = '${chain}' and sequence = ${sequence}`

const flipped = (column: string, place: number): string => `set_byte(${column}, ${place}, 255 - get_byte(${column}, ${place}))`

const ENTRIES_WITH_SHAPE = [2, 3, 4, 5, 6, 7, 8, 9, 10]

/** Each row has a change of the stored entries and the faults that a verification names. The first entry of a process is whole, the others share one shape. */
const TAMPERINGS: readonly (readonly [string, (place: Place) => string, (place: Place) => readonly string[]])[] = [
  [
    'a byte of the values of an entry is changed',
    ({ chain }) => `update account set packed = ${flipped('packed', 40)} where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'a byte is added to the values of an entry',
    ({ chain }) => `update account set packed = packed || '\\x00' where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'a whole entry is changed',
    ({ chain }) => `update account set entry = replace(entry, '"search"', '"status"') where ${entry(chain, 1)}`,
    ({ chain }) => [`entry_changed ${chain} 1`],
  ],
  [
    'a shape is changed',
    () => `alter table account_shape drop constraint account_shape_digest_check;
      update account_shape set content = replace(content, '"search"', '"status"')`,
    ({ chain, other }) => [
      expect.stringMatching(/^shape_changed [0-9a-f]{64}$/),
      ...[chain, other].toSorted().flatMap((one) => ENTRIES_WITH_SHAPE.map((number) => `entry_changed ${one} ${number}`)),
    ],
  ],
  [
    'a shape is changed with its digest, and entries name it',
    ({ chain }) =>
      `insert into account_shape (digest, content)
        select sha256(convert_to(changed, 'UTF8')), changed
        from (select replace(content, '"search"', '"status"') as changed from account_shape) as shape;
        update account set shape = (select digest from account_shape where content like '%"status"%') where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'a shape is removed',
    () => 'delete from account_shape',
    ({ chain, other }) =>
      [chain, other].toSorted().flatMap((one) => ENTRIES_WITH_SHAPE.map((number) => `shape_missing ${one} ${number}`)),
  ],
  [
    'an entry names a shape that is not there',
    ({ chain }) => `update account set shape = ${flipped('shape', 0)} where ${entry(chain, 3)}`,
    ({ chain }) => [`shape_missing ${chain} 3`],
  ],
  ...(['pseudonym', 'salt', 'role'] as const).map((part, index): (typeof TAMPERINGS)[number] => [
    `a ${part} is changed`,
    ({ chain }) => `update account set persons = ${flipped('persons', [1, 48, 0][index] ?? 0)} where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ]),
  [
    'a person is added',
    ({ chain }) => `update account set persons = persons || substr(persons, 1, 49) where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'the keys by which a person is found are changed',
    ({ chain }) => `update account set keys = '{}' where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_columns ${chain} 3`],
  ],
  [
    'an entry is marked as an emergency',
    ({ chain }) => `update account set emergency = true where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_columns ${chain} 3`],
  ],
  [
    'the message_id of an entry is changed',
    ({ chain }) => `update account set message_id = 'another' where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'an entry has commitments beside its persons',
    ({ chain }) => `update account set commitments = '\\x00' where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'an entry is added under the number of another one',
    ({ chain }) =>
      `insert into account (chain, sequence, at, entry, commitments, hash)
        select chain, sequence, at, '{}', '', hash from account_entry where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`, `entry_inserted ${chain} 3`],
  ],
  [
    'a row of a person is added beside a packed entry',
    ({ chain }) =>
      `insert into account_person (chain, sequence, position, pseudonym, salt, role)
        select chain, sequence, 0, substr(persons, 2, 32), substr(persons, 34, 16), 'seen' from account_entry where ${entry(chain, 3)}`,
    ({ chain }) => [`person_inserted ${chain} 3 position 0`],
  ],
]

test.each(TAMPERINGS)('%s', async (_, statement, expected) => {
  const { on, ...place } = await twoChains()
  await tamper(on, 'alter table account_entry drop constraint account_entry_form_check')
  await tamper(on, statement(place))
  expect(await places(on)).toEqual(expected(place))
})
