import { kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { refuseWithoutHeader } from './header-line.ts'
import { ImportError } from './import-error.ts'
import { proposeColumns } from './propose-mapping.ts'

const kind = kindNamed('civil')
if (kind === undefined) throw new Error('there is no kind civil')
const [recordType] = kind.record_types

function checked(...lines: readonly string[]) {
  const [header = [], ...rows] = lines.map((line) => line.split(';'))
  const table = { header, rows }
  refuseWithoutHeader(table, proposeColumns(kind ?? never(), recordType, table))
}
const never = (): never => {
  throw new Error('unreachable')
}

const valueAt = (place: number) =>
  new ImportError(
    `the file seems to have no header line: cell ${place} of its first line looks like a value, and is not shown. ` +
      'Write a line with the names of the columns above the rows',
  )

test.each([
  ['a number', 1, ['8128560370;Amina;female', '8128560371;Bola;male']],
  ['a date', 2, ['Amina;31/12/1990', 'Bola;01/02/1991']],
  ['a date with the name of a month', 2, ['Amina;3 May 1990']],
  ['a telephone number', 2, ['Amina;+234 803 555 0100']],
  ['an e-mail address', 1, ['amina@example.org;Amina']],
  ['a value that a row has in the same column', 2, ['Amina;female', 'Bola;female']],
  ['a value beside names that are known', 3, ['given name;sex;1990-05-05', 'Amina;female;1991-01-01']],
] as const)('%s is no name of a column', (_, place, lines) => {
  expect(() => checked(...lines)).toThrow(valueAt(place))
})

test('a first line of which nothing is known is not shown', () => {
  expect(() => checked('Amina;Okoro', 'Bola;Adeyemi')).toThrow(
    'the file seems to have no header line: no name in its first line is known, and none is shown. Write a line with the ' +
      'names of the columns above the rows; if there is one, write the mapping by hand (docs/import.md)',
  )
})

test.each([
  [['National ID;Given Name;DOB', '1;Amina;31/12/1990']],
  [['uin;address line 1;phone2', '1;Main street;']],
  [['surname;', 'Okoro;x']],
] as const)('a header line passes: %j', (lines) => {
  expect(() => checked(...lines)).not.toThrow()
})
