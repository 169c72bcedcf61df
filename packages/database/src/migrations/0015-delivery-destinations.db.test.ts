import type { Kysely } from 'kysely'
import { expect, test } from 'vitest'
import { findDestinations } from '../../../delivery/src/store/deliveries/destinations.ts'
import { emptyDatabase } from '../../../keys/test/postgres.ts'
import { openDatabase } from '../database.ts'
import { MIGRATIONS } from './index.ts'

const THIS = '0015-delivery-destinations'

test('deliveries that are there already have their destinations, and breakers of participants are forgotten', async () => {
  const empty = await emptyDatabase()
  const db = openDatabase(empty.connection)
  // Migrations see a database without types: what its tables are is what they change.
  const untyped = db.kysely as unknown as Kysely<unknown>
  const names = Object.keys(MIGRATIONS).sort()
  for (const name of names.slice(0, names.indexOf(THIS))) await MIGRATIONS[name]?.up(untyped)
  const targets = [
    ...['https://sp.example/cb/on-search?x=1', 'https://sp.example:8443/cb', 'http://[::1]:9/'],
    ...['https://sp.example', 'https://sp.example#part', 'HTTPS://sp.example/', 'no address'],
  ]
  await db.pool.query(
    `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, next_attempt_at)
      select gen_random_uuid(), 1, 1, 'on-search', 'm', target, false, '', 'pending', now() from unnest($1::text[]) as target`,
    [targets],
  )
  await db.pool.query(
    `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state)
      values (gen_random_uuid(), 1, 1, 'on-search', 'm', null, false, '', 'held')`,
  )
  await db.pool.query(`insert into breaker values (1, 7, now(), now() + interval '1 hour')`)
  await MIGRATIONS[THIS]?.up(untyped)
  const { rows } = await db.pool.query('select target, origin from delivery')
  const origins = new Map(rows.map(({ target, origin }) => [target, origin]))
  expect([...targets, null].map((target) => origins.get(target))).toEqual([
    ...['https://sp.example', 'https://sp.example:8443', 'http://[::1]:9'],
    ...['https://sp.example', 'https://sp.example', '', '', ''],
  ])
  expect((await findDestinations(db, 1, '', 10)).map(({ origin, wait, open }) => ({ origin, wait, open }))).toEqual(
    ['', 'http://[::1]:9', 'https://sp.example', 'https://sp.example:8443'].map((origin) => ({ origin, wait: 0, open: false })),
  )
  expect((await db.pool.query('select from breaker')).rowCount).toBe(0)
  await db.close()
  await empty.drop()
})
