/** Random changes of a few people of the office, whose national numbers need not differ, and of a few households. */
import fc from 'fast-check'

const no = fc.integer({ min: 1, max: 12 })
const uin = fc.constantFrom('A', 'B', 'C', 'D', 'E', 'F', 'G', 'H')

/** A statement. A person whose gender is 7 is a row that cannot be read. */
export const officeChange: fc.Arbitrary<string> = fc.oneof(
  fc.record({ no, uin }).map(
    (to) => `insert into office.person (person_no, national_no, family_name) values (${to.no}, '${to.uin}', 'Name')
    on conflict (person_no) do update set removed_at = null, family_name = concat(office.person.family_name, 'x')`,
  ),
  fc.record({ no, uin }).map((to) => `update office.person set national_no = '${to.uin}' where person_no = ${to.no}`),
  fc.record({ no, to: no }).map(
    (to) => `update office.person set person_no = ${to.to} where person_no = ${to.no}
    and not exists (select 1 from office.person where person_no = ${to.to})`,
  ),
  no.map((one) => `update office.person set gender = 7 where person_no = ${one}`),
  no.map((one) => `update office.person set gender = 1 where gender = 7 or person_no = ${one}`),
  no.map((one) => `update office.person set removed_at = now() where person_no = ${one}`),
  no.map((one) => `delete from office.person where person_no = ${one}`),
  no.map((one) => `insert into office.death values ('D${one}', ${one}, '2026-01-01') on conflict do nothing`),
  no.map((one) => `delete from office.death where person_no = ${one}`),
)

/** The same statement for MariaDB. */
export const inMariadb = (statement: string): string =>
  statement
    .replace('on conflict (person_no) do update set', 'on duplicate key update')
    .replace(/^insert(.*) on conflict do nothing$/s, 'insert ignore$1')
    .replaceAll('office.', '')
