/** Households and their residents: two record types of one registry, of which one has the rows of the other as children. */

import fc from 'fast-check'

/** Makes the tables in the office of `makeMirroredOffice`. Residents who go or move are changes of their household. */
export const HOUSEHOLDS = `
  create table office.household (household_no integer primary key, code text not null, size integer);
  create table office.resident (resident_no integer primary key, uin text not null, household_no integer not null);
  select office.add_change(name) from unnest(array['household', 'resident']) as name;
  create function office.note_household() returns trigger language plpgsql as $$
    begin update office.household set changed_at = now() where household_no = old.household_no; return old; end $$;
  create trigger gone after delete or update of household_no on office.resident
    for each row execute function office.note_household();`

/** The source file of a copy that polls; its address is in `READER`. */
export const householdSource = {
  engine: 'postgresql',
  url: { env: 'READER' },
  way: 'mirror',
  follow: 'poll',
  poll: { every: 0.1, overlap: 5 },
  statement_timeout: 60,
  records: {
    Group: {
      from: 'office.household',
      key: 'household_no',
      changed: 'changed_at',
      columns: { 'group_identifier[HOUSEHOLD_ID]': 'code', group_size: 'size' },
      children: [
        {
          from: 'office.resident',
          on: 'household_no',
          changed: 'changed_at',
          columns: { 'member_list.member_identifier[UIN]': 'uin' },
        },
      ],
    },
    Member: { from: 'office.resident', key: 'resident_no', changed: 'changed_at', columns: { 'member_identifier[UIN]': 'uin' } },
  },
}

const no = fc.integer({ min: 1, max: 4 })
const code = fc.constantFrom('H1', 'H2', 'H3')

/** A random change of a few households and residents, whose codes and numbers need not differ. */
export const householdChange: fc.Arbitrary<string> = fc.oneof(
  fc.record({ no, code }).map(
    (to) => `insert into office.household values (${to.no}, '${to.code}', 1)
    on conflict (household_no) do update set code = excluded.code, size = office.household.size + 1`,
  ),
  fc.record({ no, home: no, uin: no }).map(
    (to) => `insert into office.resident values (${to.no}, 'R${to.uin}', ${to.home})
    on conflict (resident_no) do update set uin = excluded.uin, household_no = excluded.household_no`,
  ),
  no.map((one) => `delete from office.household where household_no = ${one}`),
  no.map((one) => `delete from office.resident where resident_no = ${one}`),
)
