/** Predicates with the SQL that they become, and the records of the fixture that it finds. */

import type { Predicate } from '@rollcall/core/model/predicate'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { predicateToSql } from '../../records/src/records/sql/to-sql.ts'
import { table, whichMatch, writeFixture } from '../../records/test/query-fixture.ts'
import { type TestDatabase, testDatabase } from './postgres.ts'

/** The text, its values, and the ids of the records that it finds, of the three. */
type Expected = readonly [text: string, values: readonly unknown[], found: readonly number[]]

/** A predicate, what it becomes, and what its negation becomes. */
export type SqlCase = readonly [Predicate, whenTrue: Expected, whenFalse: Expected]

export function testSql(cases: readonly SqlCase[]): void {
  let database: TestDatabase
  beforeAll(async () => {
    database = await testDatabase()
    await writeFixture(database.db)
  })
  afterAll(() => database.close())

  test.each(cases)('%o', async (predicate, whenTrue, whenFalse) => {
    const both = [
      [predicate, whenTrue],
      [{ is: 'not', of: predicate }, whenFalse],
    ] as const
    for (const [asked, [text, values, found]] of both) {
      const condition = predicateToSql(asked, table)
      expect(condition).toEqual({ text, values })
      expect(await whichMatch(database.db, condition)).toEqual(found)
    }
  })
}
