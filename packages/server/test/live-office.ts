/** Records of tests in a database of another system: documents in a table, and a source file that reads columns of them. */

import type { RecordSource } from '@rollcall/core/model/record-source'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { readProtection } from '@rollcall/records/records/protection'
import { setRegistryRecords } from '@rollcall/records/records/registry-records'
import { openEngine } from '@rollcall/source/engines'
import { readSourceFile } from '@rollcall/source/source-file'
import pg from 'pg'
import { emptyDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { createLiveRecordAccess } from '../../source/src/live-records.ts'
import { mariadbDatabase } from '../../source/test/mariadb.ts'
import { addressOf } from '../../source/test/office.ts'

const SOURCES = {
  civil: {
    Person: {
      select: `select no, upper(doc #>> '{identifier,0,identifier_value}') as uin, doc #>> '{name,surname}' as surname,
        doc #>> '{name,given_name}' as given, doc ->> 'sex' as sex, (doc ->> 'birth_date')::date as born from thing`,
      key: 'no',
      columns: {
        'identifier[UIN]': 'uin',
        'name.surname': 'surname',
        'name.given_name': 'given',
        sex: { column: 'sex', codes: { male: 'male', female: 'female' } },
        birth_date: 'born',
      },
      compare: { surname: 'folded', sex: 'code', birth_date: 'date' },
    },
  },
  ibr: {
    Beneficiary: {
      select: `select no, upper(doc #>> '{member,member_identifier}') as uin from thing`,
      key: 'no',
      columns: { 'member.member_identifier': 'uin' },
      children: [
        {
          select: `select no, doc #> '{member,programme_identifier}' #>> '{programme,programme_identifier}' as programme,
            doc #>> '{member,programme_identifier,enrolment_status}' as status,
            doc #>> '{member,programme_identifier,enrolment_date}' as began from thing`,
          on: 'no',
          columns: {
            'member.programme_identifier.programme.programme_identifier': 'programme',
            'member.programme_identifier.enrolment_status': 'status',
            'member.programme_identifier.enrolment_date': 'began',
          },
        },
      ],
    },
  },
}

export interface LiveOffice {
  readonly source: RecordSource
  /** Removes a record from the other system, by its primary identifier. */
  remove(primary: string): Promise<void>
  close(): Promise<void>
}

/** The same sources for MariaDB, whose JSON functions differ. */
const MARIADB_SOURCES: Readonly<Record<string, object>> = {
  civil: {
    Person: {
      ...SOURCES.civil.Person,
      select: `select no, upper(json_value(doc, '$.identifier[0].identifier_value')) as uin, json_value(doc, '$.name.surname') as surname,
        json_value(doc, '$.name.given_name') as given, json_value(doc, '$.sex') as sex,
        cast(json_value(doc, '$.birth_date') as date) as born from thing`,
    },
  },
  ibr: {
    Beneficiary: {
      ...SOURCES.ibr.Beneficiary,
      select: `select no, upper(json_value(doc, '$.member.member_identifier')) as uin from thing`,
      children: [
        {
          ...SOURCES.ibr.Beneficiary.children[0],
          select: `select no, json_value(doc, '$.member.programme_identifier.programme.programme_identifier') as programme,
            json_value(doc, '$.member.programme_identifier.enrolment_status') as status,
            json_value(doc, '$.member.programme_identifier.enrolment_date') as began from thing`,
        },
      ],
    },
  },
}

/** Lets a registry read these documents live from a MariaDB database. */
export async function liveMariadb(
  { db }: Pick<TestDatabase, 'db'>,
  registry: Registry,
  documents: readonly object[],
): Promise<LiveOffice> {
  const office = await mariadbDatabase()
  await office.run('create table thing (no integer auto_increment primary key, doc longtext not null)')
  for (const one of documents) await office.run('insert into thing (doc) values (?)', [JSON.stringify(one)])
  const given = {
    engine: 'mariadb',
    url: { env: 'OFFICE' },
    way: 'live',
    statement_timeout: 60,
    records: MARIADB_SOURCES[registry.kind.name],
  }
  const { source, close } = opened(db, registry, given, office.address)
  return {
    source,
    async remove(primary) {
      await office.run(
        `delete from thing where upper(?) in (upper(json_value(doc, '$.identifier[0].identifier_value')),
          upper(json_value(doc, '$.member.member_identifier')))`,
        [primary],
      )
    },
    async close() {
      await close()
      await office.drop()
    },
  }
}

/** Lets a registry read the source that a source file describes. */
function opened(db: Database, registry: Registry, given: object, address: string): Pick<LiveOffice, 'source' | 'close'> {
  const file = readSourceFile(given, registry.kind)
  const engine = openEngine(file, { OFFICE: address })
  const records = createLiveRecordAccess(registry.kind, file, engine, ({ id }) => readProtection(db.pool, id))
  setRegistryRecords(db, registry, records)
  return { source: records.source, close: engine.close }
}

/** Lets a registry read these documents live from a PostgreSQL database. */
export async function liveOffice(
  { db }: Pick<TestDatabase, 'db'>,
  registry: Registry,
  documents: readonly object[],
): Promise<LiveOffice> {
  const office = await emptyDatabase()
  const client = new pg.Client(office.connection)
  await client.connect()
  await client.query('create table thing (no serial primary key, doc jsonb not null)')
  for (const one of documents) await client.query('insert into thing (doc) values ($1)', [JSON.stringify(one)])
  const given = {
    engine: 'postgresql',
    url: { env: 'OFFICE' },
    way: 'live',
    records: SOURCES[registry.kind.name as keyof typeof SOURCES],
  }
  const { source, close } = opened(db, registry, given, addressOf(office.connection))
  return {
    source,
    async remove(primary) {
      await client.query(
        `delete from thing where upper($1) in (
          upper(doc #>> '{identifier,0,identifier_value}'), upper(doc #>> '{member,member_identifier}'))`,
        [primary],
      )
    },
    async close() {
      await client.end()
      await close()
      await office.drop()
    },
  }
}
