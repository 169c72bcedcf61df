/** A registry office's own database, and its source file. */

export const SCHEMA = 'bench_office'

/** People of a registry office: a surname has a thousandth of them, a day of birth a twenty-thousandth. */
export const tables = (records: number): string => `drop schema if exists ${SCHEMA} cascade; create schema ${SCHEMA};
  create table ${SCHEMA}.person as select n::int as person_no, 'U' || lpad(n::text, 9, '0') as national_no,
    'Name ' || n % 1000 as family_name, 'Given ' || n % 777 as given_name, (n % 2 + 1)::smallint as gender,
    date '1950-01-01' + (n % 20000)::int as born from generate_series(1, ${records}) as n;
  create table ${SCHEMA}.birth as select 'B' || lpad(n::text, 9, '0') as birth_no, n::int as person_no,
    'Place ' || n % 300 as place from generate_series(1, ${records}) as n;
  alter table ${SCHEMA}.person add primary key (person_no), add unique (national_no);
  alter table ${SCHEMA}.birth add primary key (birth_no);
  create index on ${SCHEMA}.person (born); create index on ${SCHEMA}.birth (person_no);
  analyze ${SCHEMA}.person; analyze ${SCHEMA}.birth`

/** SQL that makes the same people in MariaDB, in a database of their own. */
export const mariadbTables = (
  records: number,
): string => `drop database if exists ${SCHEMA}; create database ${SCHEMA}; use ${SCHEMA};
  create table ${SCHEMA}.person (person_no int primary key, national_no varchar(20) not null unique, family_name varchar(200),
    given_name varchar(200), gender smallint, born date, index (born));
  create table ${SCHEMA}.birth (birth_no varchar(30) primary key, person_no int not null, place varchar(200), index (person_no));
  insert into ${SCHEMA}.person select seq, concat('U', lpad(seq, 9, '0')), concat('Name ', seq % 1000), concat('Given ', seq % 777),
    seq % 2 + 1, date '1950-01-01' + interval (seq % 20000) day from seq_1_to_${records};
  insert into ${SCHEMA}.birth select concat('B', lpad(seq, 9, '0')), seq, concat('Place ', seq % 300) from seq_1_to_${records};
  analyze table ${SCHEMA}.person, ${SCHEMA}.birth`

const PERSON = {
  from: `${SCHEMA}.person`,
  key: 'person_no',
  columns: {
    'identifier[UIN]': 'national_no',
    'name.surname': 'family_name',
    'name.given_name': 'given_name',
    sex: { column: 'gender', codes: { '1': 'male', '2': 'female' } },
    birth_date: 'born',
  },
}
const BIRTH = {
  from: `${SCHEMA}.birth`,
  on: 'person_no',
  columns: { 'identifier[BRN]': 'birth_no', 'birth_place.name': 'place' },
}
const SHARED = { engine: 'postgresql', url: { env: 'OFFICE' } }

export const LIVE = {
  ...SHARED,
  way: 'live',
  records: {
    Person: {
      ...PERSON,
      children: [BIRTH],
      compare: { surname: 'folded', given_name: 'folded', sex: 'code', birth_date: 'date' },
    },
  },
}

/** The ways to follow the office, as an operator writes them. */
export const MIRRORS = {
  logical: { ...SHARED, way: 'mirror', follow: 'logical', records: { Person: { ...PERSON, children: [BIRTH] } } },
  poll: {
    ...SHARED,
    way: 'mirror',
    follow: 'poll',
    poll: { every: 0.2 },
    records: { Person: { ...PERSON, changed: 'changed_at', children: [{ ...BIRTH, changed: 'changed_at' }] } },
  },
} as const
