/**
 * Which identifiers of a protected person protect whichever record bears them, records that were merged into another one
 * with it; and by what a delivery was made, so that whether it is older than a protection or a grant needs no clock.
 */
import { type Kysely, sql } from 'kysely'
import type { Migration } from 'kysely/migration'

export const protectionOfRetired: Migration = {
  async up(db: Kysely<unknown>): Promise<void> {
    await sql`alter table protected_identifier
      -- Whichever record bears it as its own is protected.
      add column protects boolean not null default false`.execute(db)
    await sql`update protected_identifier as borne set protects = true from protected_person as person
      where person.id = borne.person and person.type = borne.type and person.value = borne.value`.execute(db)
    // The records of the protected persons, and those that were merged into them, are known by their primary identifiers.
    await sql`insert into protected_record (registry, record_type, record, person, category)
      select hidden.registry, hidden.record_type, retired.record, hidden.person, hidden.category
      from protected_record as hidden join retired_record as retired
        on retired.registry = hidden.registry and retired.record_type = hidden.record_type
          and retired.survivor = hidden.record
      on conflict do nothing`.execute(db)
    await sql`update protected_identifier as borne set protects = true from protected_record as hidden, retired_record as retired
      where hidden.person = borne.person and hidden.registry = retired.registry and hidden.record_type = retired.record_type
        and hidden.record = retired.record and borne.value = retired.primary_identifier`.execute(db)
    await sql`alter table registry drop column protected_at`.execute(db)
    await sql`alter table delivery
      -- The registry's protection_version by which it was made.
      add column protection bigint not null default 0,
      -- The grant by which it was made; null: it is not known.
      add column granted integer`.execute(db)
  },
}
