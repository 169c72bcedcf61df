import { setImmediate } from 'node:timers/promises'
import { type RecordSource, RecordsUnavailable, SearchTimeout } from '@rollcall/core/model/record-source'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { programOrSkip } from '../../../../test/programs.ts'
import { asking, bearer, recordType, registry, total } from '../../test/asking.ts'
import { hasMariadb, type MariadbDatabase } from '../../test/mariadb.ts'
import { mariadbOffice, mariadbOfficeSource } from '../../test/mariadb-office.ts'

test('MariaDB as a source', (context) => {
  if (!hasMariadb()) {
    const how = 'on Debian, apt-get install --no-install-recommends mariadb-server'
    context.skip(`mariadbd is not installed, and the engines mariadb and mysql were not tested; ${how}`)
  }
  programOrSkip(context, 'mariadbd')
})

describe.skipIf(!hasMariadb())('connections to MariaDB', () => {
  let office: MariadbDatabase
  beforeAll(async () => {
    office = await mariadbOffice([{ person_no: 1, national_no: 'A1', family_name: 'Okoro', born: '1985-06-12' }])
  })
  afterAll(() => office.drop())

  /** Reads as an account that could write: only the transaction stands in the way. */
  function reading<Result>(
    more: object,
    file: object,
    work: Parameters<typeof asking<Result>>[2],
    address = office.address,
  ): Promise<Result> {
    const source = mariadbOfficeSource({ env: 'OFFICE' })
    const { Person } = source.records as { Person: object }
    return asking({ ...source, ...file, records: { Person: { ...Person, ...more } } }, address, work)
  }
  const lookUp = (source: RecordSource): Promise<number> => total(source, bearer('UIN', 'A1'))
  const failure = (more: object, file: object = {}): Promise<unknown> =>
    reading(more, file, async (source, engine) => {
      const error = await lookUp(source).catch((caught) => caught)
      return { error, isAway: engine.isAway() }
    })

  test('a statement that takes longer than the file allows is ended, and the source is not away', async () => {
    const failed = await failure({ where: 'sleep(60) = 0' }, { statement_timeout: 0.1 })
    expect(failed).toMatchObject({ error: { seconds: 0.1, cause: expect.any(RecordsUnavailable) }, isAway: false })
    expect((failed as { error: unknown }).error).toBeInstanceOf(SearchTimeout)
  })

  test('a table that somebody else has locked keeps no question waiting while its statement is prepared', async () => {
    await office.run('lock tables person write')
    try {
      expect(await failure({}, { statement_timeout: 0.1 })).toMatchObject({ error: expect.any(Error) })
    } finally {
      await office.run('unlock tables')
    }
    expect(await reading({}, {}, lookUp)).toBe(1)
  })

  test('what the operator wrote cannot write, whatever the account may do', async () => {
    await office.run('create table note (id int)')
    await office.run(`create function written() returns int begin insert into note values (1); return 1; end`)
    expect(await failure({ where: 'written() = 1' })).toMatchObject({ error: { cause: { errno: 1792 } }, isAway: false })
    expect(await failure({ where: 'true) as x limit 0 union all (select 1 from note' })).toMatchObject({
      error: expect.any(RecordsUnavailable),
    })
    expect(await office.run('select * from note')).toEqual([])
  })

  test('no question on a connection can write, nor does one make the next one write, and each reads the newest state', async () => {
    await office.run('create table noted (id int)')
    await office.run('create function noted() returns int begin set session tx_read_only = 0; return 1; end')
    await office.run(`insert into person (person_no, national_no, family_name) values (8, 'W8', 'A'), (9, 'W9', 'B')`)
    await reading({ where: 'noted() = 1' }, { pool: 1 }, async (source) => {
      for (const number of ['A1', 'W8']) expect(await total(source, bearer('UIN', number))).toBe(1)
      await office.run('drop function noted')
      await office.run('create function noted() returns int begin insert into noted values (1); return 1; end')
      const failed = await total(source, bearer('UIN', 'W8')).catch((caught) => caught)
      expect(failed).toMatchObject({ name: 'RecordsUnavailable', cause: { errno: 1792 } })
    })
    await reading({}, { pool: 1 }, async (source) => {
      expect(await total(source, bearer('UIN', 'W8', 'W9'))).toBe(2)
      expect(await total(source, bearer('UIN', 'W8', 'W9'))).toBe(2)
      await office.run('delete from person where person_no = 9')
      expect(await total(source, bearer('UIN', 'W8', 'W9'))).toBe(1)
    })
    expect(await office.run('select * from noted')).toEqual([])
    await office.run('delete from person where person_no = 8')
  })

  test('a comment in a condition ends with it, and texts stand between both quotation marks', async () => {
    expect(await reading({ where: 'removed_at is null -- and nothing else' }, {}, lookUp)).toBe(1)
    expect(await reading({ where: `national_no = "A1" # or nobody` }, {}, lookUp)).toBe(1)
  })

  test('while a column is missing the records are away, and they are back with it', async () => {
    await reading({}, {}, async (source) => {
      expect(await lookUp(source)).toBe(1)
      await office.run('alter table person rename column born to birthday')
      await expect(lookUp(source)).rejects.toBeInstanceOf(RecordsUnavailable)
      await office.run('alter table person rename column birthday to born')
      expect(await lookUp(source)).toBe(1)
    })
  })

  test('a query is judged while the only connection is in use, and a source that is busy is not away', async () => {
    await reading({}, { pool: 1 }, async (source, engine) => {
      const rule = await source.session(
        async () => await source.refusal?.(registry, { recordType, predicate: bearer('UIN', 'A1') }),
      )
      expect(rule).toBeNull()
      await expect(source.session(() => lookUp(source))).rejects.toBeInstanceOf(RecordsUnavailable)
      expect(engine.isAway()).toBe(false)
      expect(await lookUp(source)).toBe(1)
    })
  })

  test('the locks of a transaction may end at any moment at which a snapshot begins on its connection', async () => {
    const timers = vi.spyOn(globalThis, 'setTimeout')
    await reading({}, { pool: 1 }, async (source, engine) => {
      // The first question reads the types of columns too. The transaction of the second one stays open.
      for (const _ of [1, 2]) expect(await lookUp(source)).toBe(1)
      const endLocks = timers.mock.calls.find(([, milliseconds]) => milliseconds === 50)?.[0] ?? expect.fail()
      let isRunning = true
      const session = source.session((reader) => reader.count(registry, recordType))
      const stop = (): void => {
        isRunning = false
      }
      session.then(stop, stop)
      while (isRunning) {
        endLocks()
        await setImmediate()
      }
      expect(await session).toBe(1)
      expect(engine.isAway()).toBe(false)
    }).finally(() => timers.mockRestore())
  })

  test('a connection that is ended between two questions is made again', async () => {
    await reading({}, {}, async (source) => {
      expect(await lookUp(source)).toBe(1)
      const sessions = (await office.run(
        `select id from information_schema.processlist where db = database() and id <> connection_id()`,
      )) as { id: number }[]
      for (const { id } of sessions) await office.run(`kill ${id}`)
      await expect.poll(() => lookUp(source).catch(() => 0)).toBe(1)
    })
  })

  test('a record with more rows of a child than one may have is left out', async () => {
    await office.run(`insert into person (person_no, national_no, family_name) values (7, 'M7', 'Many')`)
    await office.run(`insert into birth select concat('B', seq), 7, 'Moshi' from seq_1_to_1001`)
    const many = bearer('UIN', 'M7')
    expect(await reading({}, {}, (source) => total(source, many))).toBe(0)
    await office.run(`delete from birth where birth_no = 'B1001'`)
    expect(await reading({}, {}, (source) => total(source, many))).toBe(1)
    await office.run('delete from person where person_no = 7')
  })

  test('a source that is not there is away', async () => {
    const gone = new URL(office.address)
    gone.searchParams.set('socket', '/nowhere/socket')
    const seen = await reading(
      {},
      {},
      async (source, engine) => [await lookUp(source).catch((error) => error), engine.isAway()],
      gone.href,
    )
    expect(seen).toEqual([expect.any(RecordsUnavailable), true])
  })
})
