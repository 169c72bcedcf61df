/**
 * Protected persons: whom they are known by, which records are theirs, and which other records name them. A registry also has
 * the age at which people in it come of age.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const protectedPersons: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table registry
      -- Another one after each change of what is protected; of the sequence, so that none is used twice.
      add column protection_version bigint not null default 0,
      -- When somebody was protected last.
      add column protected_at timestamptz,
      add column majority_age integer not null default 18 check (majority_age between 1 and 99)`.execute(db)
    await sql`create sequence protection_version`.execute(db)
    await sql`create table protected_person (
      id integer generated always as identity primary key,
      registry integer not null references registry on delete cascade,
      -- The identifier that protects: whichever record bears it as its own is protected.
      type text collate "C" not null,
      value text collate "C" not null,
      category text not null,
      reason text not null,
      protected_at timestamptz not null default now(),
      unique (registry, type, value)
    )`.execute(db)
    await sql`create table protected_identifier (
      registry integer not null,
      type text collate "C" not null,
      value text collate "C" not null,
      person integer not null references protected_person on delete cascade,
      primary key (registry, type, value, person)
    )`.execute(db)
    await sql`create index protected_identifier_person_index on protected_identifier (person)`.execute(db)
    await sql`create table protected_record (
      registry integer not null,
      record_type text collate "C" not null,
      record bigint not null,
      person integer not null references protected_person on delete cascade,
      category text not null,
      primary key (registry, record_type, record, person)
    )`.execute(db)
    await sql`create index protected_record_person_index on protected_record (person)`.execute(db)
    await sql`create table protected_reference (
      registry integer not null,
      record_type text collate "C" not null,
      -- A record that names the person; its columns and its identifiers are written without the person.
      record bigint not null,
      person integer not null references protected_person on delete cascade,
      primary key (registry, record_type, record, person)
    )`.execute(db)
    await sql`create index protected_reference_person_index on protected_reference (person)`.execute(db)
  },
}
