import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { kind } from '../../test/asking.ts'
import { decided } from '../../test/decided.ts'
import { hasMariadb, type MariadbDatabase } from '../../test/mariadb.ts'
import { mariadbOffice } from '../../test/mariadb-office.ts'
import { ASHA, bareFile } from '../../test/proposing.ts'
import { checkSource } from '../check-source.ts'
import { openEngine } from '../engines.ts'
import { proposeSource } from '../propose-source.ts'
import { writeProposedText } from '../proposed-text.ts'
import { readSourceFile } from '../source-file.ts'

describe.skipIf(!hasMariadb())('the proposal of a source file of MariaDB', () => {
  let office: MariadbDatabase
  beforeAll(async () => {
    office = await mariadbOffice([
      ASHA,
      { person_no: 2, national_no: '8100000024', family_name: 'Obi', gender: 1, born: '1988-03-02', removed: true },
    ])
  })
  afterAll(() => office.drop())

  const bare = bareFile('mariadb', 'OFFICE')

  test('it is a file by which the office is read once its questions are decided', async () => {
    const engine = openEngine(bare, { OFFICE: office.address })
    try {
      const text = writeProposedText('civil', bare, await proposeSource(kind, bare, engine, new Map([['Person', 'person']])))
      expect(text).not.toMatch(/Okoro|Asha|8100000017|Moshi/)
      const file = readSourceFile(parse(decided(text)), kind)
      const [person] = [...file.records.values()]
      expect(person?.own.where).toBe('removed_at is null')
      expect(person?.children.map(({ key }) => key)).toEqual(['person_no', 'person_no', 'person_no'])
      const [checked] = (await checkSource(kind, file, engine)).records
      expect(checked).toMatchObject({ rows: 1, leftOut: 0, unfound: [] })
    } finally {
      await engine.close()
    }
  })
})
