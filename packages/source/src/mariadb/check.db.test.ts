import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { kind } from '../../test/asking.ts'
import { hasMariadb, type MariadbDatabase } from '../../test/mariadb.ts'
import { mariadbOffice, mariadbOfficeSource } from '../../test/mariadb-office.ts'
import { checkSource, type SourceFindings } from '../check-source.ts'
import type { OpenEngine } from '../engine/engine.ts'
import { openEngine } from '../engines.ts'
import { readSourceFile } from '../source-file.ts'

describe.skipIf(!hasMariadb())('the check of MariaDB', () => {
  let office: MariadbDatabase
  let reader: string
  let account: string

  beforeAll(async () => {
    office = await mariadbOffice([
      { person_no: 1, national_no: 'A1', family_name: 'Okoro', gender: 1, born: '1985-06-12', mobile: '+1 555-0100' },
      { person_no: 2, national_no: 'a2', family_name: 'Obi', gender: 9, birth: { no: 'B2' } },
      { person_no: 3, national_no: 'A3', family_name: 'Abara', marriages: [{ no: 'M3', married: '31.12.2001' }] },
    ])
    account = `r_${office.name.slice(-8)}`
    await office.run(`create user ${account} identified by 'reads'`)
    await office.run(`grant select on ${office.name}.* to ${account}`)
    reader = office.addressOf(account, 'reads')
  })
  afterAll(async () => {
    await office.run(`drop user ${account}`)
    await office.drop()
  })

  async function within<Result>(work: (engine: OpenEngine) => Promise<Result>, given: object, address: string) {
    const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
    const engine = openEngine(file, { OFFICE: address })
    try {
      return await work(engine)
    } finally {
      await engine.close()
    }
  }
  const check = (given: object = mariadbOfficeSource({ env: 'OFFICE' }), address = reader): Promise<SourceFindings> => {
    const file = readSourceFile(JSON.parse(JSON.stringify(given)), kind)
    return within((engine) => checkSource(kind, file, engine), given, address)
  }
  const changed = (more: object): object => {
    const file = mariadbOfficeSource({ env: 'OFFICE' })
    const { Person } = file.records as { Person: object }
    return { ...file, records: { Person: { ...Person, ...more } } }
  }

  test('a source is reported as that of another engine', async () => {
    const { about, writes, weak, records } = await check()
    expect(about).toMatch(/^MariaDB \d+.*, database test_\w+, account r_\w+@%$/)
    expect({ writes, weak }).toEqual({ writes: [], weak: [] })
    const [person] = records
    expect(person).toMatchObject({ recordType: 'Person', rows: 3, leftOut: 2 })
    expect(person?.unfound).toEqual([{ name: 'UIN', column: 'national_no', count: 1 }])
    expect(JSON.stringify(records)).not.toMatch(/Okoro|Obi|0100|31\.12/)
  })

  test('what would read a whole table is named, with the statement for its index', async () => {
    const [person] = (await check()).records
    expect(person?.slow).toEqual([
      { name: 'MOBILE', table: 'person', index: null },
      { name: 'marriage_date', table: 'marriage', index: 'create index `rollcall_married` on `marriage` (`married`);' },
      { name: 'death_date', table: 'death', index: 'create index `rollcall_died` on `death` (`died`);' },
    ])
  })

  test.each<[string, readonly string[], readonly string[], RegExp]>([
    [
      'a right to write to a table',
      ['grant update on DB.birth to READER'],
      ['revoke update on DB.birth from READER'],
      /^it has more than reading on test_\w+\.birth: UPDATE$/,
    ],
    [
      'a right to write to a column',
      ['grant update (place) on DB.birth to READER'],
      ['revoke update (place) on DB.birth from READER'],
      /^it has more than reading on test_\w+\.birth: UPDATE$/,
    ],
    [
      'a right to make tables',
      ['grant create on DB.* to READER'],
      ['revoke create on DB.* from READER'],
      /^it has more than reading on test_\w+\.\*: CREATE$/,
    ],
    [
      'all rights to a database, and that to give them',
      ['grant all on DB.* to READER with grant option'],
      ['revoke all, grant option from READER', 'grant select on DB.* to READER'],
      /^it has more than reading on test_\w+\.\*: ALL PRIVILEGES, GRANT OPTION$/,
    ],
    [
      'FILE',
      ['grant file on *.* to READER'],
      ['revoke file on *.* from READER'],
      /^it may read and write files of the server \(FILE on \*\.\*\)$/,
    ],
    [
      'a role that has another role, which writes',
      [
        'create role ROLE',
        'create role ROLE2',
        'grant delete on DB.death to ROLE2',
        'grant ROLE2 to ROLE',
        'grant ROLE to READER',
      ],
      ['drop role ROLE', 'drop role ROLE2'],
      /^it has more than reading on test_\w+\.death: DELETE, by the role role2_\w+$/,
    ],
    [
      'what everybody has',
      ['grant insert on DB.death to public'],
      ['revoke insert on DB.death from public'],
      /^it has more than reading on test_\w+\.death: INSERT, as everybody$/,
    ],
    [
      'a function that acts as its definer',
      ['create function wipe() returns int return 1', 'grant execute on function DB.wipe to READER'],
      ['drop function wipe'],
      /^it may call test_\w+\.wipe, which acts as its definer \(EXECUTE on test_\w+\.wipe\)$/,
    ],
    [
      'REPLICATION SLAVE',
      ['grant replication slave on *.* to READER'],
      ['revoke replication slave on *.* from READER'],
      /^it has more than reading on \*\.\*: REPLICATION SLAVE$/,
    ],
  ])('an account is known that has %s', async (_, give, take, says) => {
    const named = (statement: string): string =>
      statement
        .replaceAll('DB', office.name)
        .replaceAll('READER', account)
        .replaceAll(/ROLE(2?)/g, `role$1_${account}`)
    for (const statement of give) await office.run(named(statement))
    try {
      expect((await check()).writes).toEqual([expect.stringMatching(says)])
    } finally {
      for (const statement of take) await office.run(named(statement))
    }
    expect((await check()).writes).toEqual([])
  })

  test('the database test of MariaDB does not count', async () => {
    await office.run(`grant all on test.* to ${account}`)
    expect((await check()).writes).toEqual([])
    await office.run(`revoke all on test.* from ${account}`)
  })

  test('a function that acts as who calls it does not count', async () => {
    await office.run('create function seen() returns int sql security invoker return 1')
    await office.run(`grant execute on function ${office.name}.seen to ${account}`)
    expect((await check()).writes).toEqual([])
    await office.run('drop function seen')
  })

  test.each<[string, object, RegExp]>([
    [
      'a table that is not there',
      { from: 'persons' },
      /^the database cannot be read as the file says: (?:Table 'test_\w+\.persons' doesn't exist \(1146\)|SELECT command denied .* \(1142\))$/,
    ],
    [
      'a column that is not there',
      { key: 'person_id' },
      /^the database cannot be read as the file says: Unknown column 'own\.person_id' in '\w+( \w+)?' \(1054\)$/,
    ],
    [
      'a key of another type',
      { key: 'born' },
      /^records\.Person\.key: born must be a column of whole numbers, of texts or of UUIDs, and it is of another type$/,
    ],
    [
      'a key of another type than that of its children: 0 would be every text',
      { key: 'family_name' },
      /^records\.Person\.children\[0\]\.on: person_no must have the type of the key family_name, and it has another one$/,
    ],
    [
      'a key that two rows have',
      { key: 'one', from: undefined, select: 'select person.*, 1 as one from person' },
      /^records\.Person\.key: one is the same in several rows, or missing in one$/,
    ],
    [
      'a condition that is no SQL',
      { where: 'removed_at is null and' },
      /^the database cannot be read as the file says: You have an error in your SQL syntax.* \(1064\)$/,
    ],
  ])('%s is refused', async (_, more, message) => {
    await expect(check(changed(more))).rejects.toThrow(
      expect.objectContaining({ name: 'SourceRefusal', message: expect.stringMatching(message) }),
    )
  })

  test('a database that is not there is said without its address', async () => {
    await expect(check(undefined, office.addressOf(account, 'another'))).rejects.toThrow(
      expect.objectContaining({ message: 'there is no answer from a database at the address in OFFICE (1045)' }),
    )
    await expect(check(undefined, 'mariadb://127.0.0.1:1/office')).rejects.toThrow(
      'there is no answer from a database at the address in OFFICE (ECONNREFUSED)',
    )
    await expect(check(undefined, 'postgresql://host/name')).rejects.toThrow(
      'url: the address must begin with mariadb:// or mysql://',
    )
    await expect(check(undefined, 'mariadb://127.0.0.1/name?ssl-mode=VERIFY_IDENTITY')).rejects.toThrow(
      'url: to be verified, the address must have the name of the host in its certificate',
    )
    await expect(check(undefined, 'mariadb://host/name?ssl-mode=PREFERRED')).rejects.toThrow(
      'url: ssl-mode must be DISABLED, REQUIRED, VERIFY_IDENTITY',
    )
    await expect(check(undefined, 'mariadb://host/name?sslmode=verify-full')).rejects.toThrow(
      'url: after ? the address may have ssl-mode and socket, and nothing else',
    )
    await expect(check(undefined, 'mariadb://reader:100%safe@host/name')).rejects.toThrow(
      expect.objectContaining({ name: 'SourceRefusal', message: 'url: a % in the address must be written as %25' }),
    )
  })

  test('its catalog has the tables that the account may read', async () => {
    await office.run(`create view names as select person_no, family_name from person`)
    await office.run('alter table death add constraint one foreign key (person_no) references person (person_no)')
    const tables = await within((engine) => engine.catalog(), mariadbOfficeSource({ env: 'OFFICE' }), reader)
    await office.run('drop view names')
    expect(tables.map(({ schema }) => schema)).toEqual(tables.map(() => office.name))

    expect(tables.map(({ name, isView, key }) => [name, isView, key])).toEqual([
      ['birth', false, 'birth_no'],
      ['death', false, 'death_no'],
      ['marriage', false, 'marriage_no'],
      ['names', true, null],
      ['person', false, 'person_no'],
    ])
    expect(tables[0]?.columns[0]).toEqual({
      isKey: true,
      isUnique: true,
      name: 'birth_no',
      type: 'varchar(30)',
      holds: 'text',
      isNullable: false,
    })
    expect(tables[4]?.columns.map(({ holds }) => holds)).toEqual([
      'integer',
      'text',
      'text',
      'text',
      'integer',
      'day',
      'text',
      'instant',
    ])
    expect(tables[1]?.references).toEqual([
      { column: 'person_no', to: { schema: office.name, table: 'person', column: 'person_no' } },
    ])
  })
})
