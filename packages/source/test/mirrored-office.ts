/** A civil office whose tables say when their rows were changed, and a registry with a copy of its people. */
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { recordsOf } from '@rollcall/records/records/registry-records'
import { addRegistry, requireRegistry } from '@rollcall/records/registries/registries'
import pg from 'pg'
import { makeOffice, type OfficePerson, officeSource } from './office.ts'

const CHANGED = `
  create function office.note_change() returns trigger language plpgsql as $$
    begin new.changed_at = now(); return new; end $$;
  create function office.note_person() returns trigger language plpgsql as $$
    begin update office.person set changed_at = now() where person_no = old.person_no; return old; end $$;
  create function office.add_change(name text) returns void language plpgsql as $$
    begin
      execute format('alter table office.%I add column changed_at timestamptz not null default now()', name);
      execute format('create index on office.%I (changed_at)', name);
      execute format('create trigger changed before insert or update on office.%I
        for each row execute function office.note_change()', name);
    end $$;
  select office.add_change(name) from unnest(array['person', 'birth', 'marriage', 'death']) as name;`

/** Deleted rows of children, and those that move to another person, are changes of the person who had them. */
const CHILDREN = ['birth', 'marriage', 'death']
  .map(
    (name) => `create trigger gone after delete or update of person_no on office.${name}
      for each row execute function office.note_person();`,
  )
  .join('\n')

/** Makes the office in an empty database. @returns a connection of its owner */
export async function makeMirroredOffice(connection: pg.ClientConfig, people: readonly OfficePerson[]): Promise<pg.Client> {
  await makeOffice(connection, people)
  const office = new pg.Client(connection)
  await office.connect()
  await office.query(CHANGED)
  await office.query(CHILDREN)
  return office
}

type Json = Record<string, unknown>

/** The source file of a copy that polls ten times a second. */
export function polledSource(url: object, more: Json = {}): Json {
  const { records, ...file } = officeSource(url) as { records: { Person: Json & { children: Json[] } } }
  const { compare: _, children, ...person } = records.Person
  return {
    ...file,
    way: 'mirror',
    follow: 'poll',
    poll: { every: 0.1, overlap: 5 },
    records: {
      Person: { ...person, changed: 'changed_at', children: children.map((child) => ({ ...child, changed: 'changed_at' })) },
    },
    ...more,
  }
}

export const mirroredRegistry = (db: Database, source: object, namespace = 'civil'): Promise<Registry> =>
  addRegistry(db, { namespace, kind: 'civil', sender_id: `${namespace}.rollcall`, source })

/** The documents of a registry's people, by UIN. @throws RecordsUnavailable they are not copied yet */
export async function copiedPeople(db: Database, namespace = 'civil'): Promise<Readonly<Record<string, Json>>> {
  const registry = await requireRegistry(db, namespace)
  const [recordType] = registry.kind.record_types
  if (recordType === undefined) throw new Error('unreachable: the kind has persons')
  const query = { recordType, predicate: null, since: null, after: null, limit: 10_000 }
  const found = await recordsOf(db, registry).within(db.pool).page(registry, query)
  return Object.fromEntries(
    found.map(({ document }): [string, Json] => {
      const person = JSON.parse(document) as Json
      const identifiers = person.identifier as readonly { identifier_type: string; identifier_value: string }[]
      return [identifiers.find((one) => one.identifier_type === 'UIN')?.identifier_value ?? '', person]
    }),
  )
}
