import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import {
  isRunning,
  openElsewhere,
  postmasterOf,
  query,
  startedDirectory,
  temporaryDirectory,
  waitUntil,
} from '../../test/embedded.ts'
import { openEmbeddedPostgres } from './postgres.ts'

test('a second process borrows, and only the last one stops PostgreSQL', async () => {
  const directory = await startedDirectory()
  const owner = await openElsewhere(directory)
  expect(owner.said).toBe('open')
  const pid = await postmasterOf(directory)

  const borrower = await openEmbeddedPostgres(directory)
  expect(await postmasterOf(directory)).toBe(pid)
  await borrower.close()
  expect(await postmasterOf(directory)).toBe(pid)

  // The one who started it may go first: the other keeps it, and stops it.
  const later = await openEmbeddedPostgres(directory)
  await owner.close()
  expect(await query(later.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  expect(await postmasterOf(directory)).toBe(pid)
  await later.close()
  expect(await postmasterOf(directory)).toBeNull()
  expect(isRunning(Number(pid))).toBe(false)
})

test('processes that make the first start at the same time end up with one cluster', async () => {
  const directory = await temporaryDirectory()
  const [mine, other] = await Promise.all([
    openEmbeddedPostgres(directory),
    openElsewhere(directory),
    openEmbeddedPostgres(directory).then((again) => again.close()),
  ])
  expect(other.said).toBe('open')
  expect(await query(mine.connection, 'select count(*)::int as databases from pg_database')).toEqual([{ databases: 4 }])
  await mine.close()
  expect(await postmasterOf(directory)).not.toBeNull()
  await other.close()
  expect(await postmasterOf(directory)).toBeNull()
})

test('after kill -9 the next start adopts the PostgreSQL that goes on alone', async () => {
  const directory = await startedDirectory()
  const killed = await openElsewhere(directory)
  const pid = await postmasterOf(directory)
  await killed.kill()
  expect(isRunning(Number(pid))).toBe(true)

  const adopted = await openEmbeddedPostgres(directory)
  expect(await postmasterOf(directory)).toBe(pid)
  expect(await query(adopted.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  await adopted.close()
  expect(await postmasterOf(directory)).toBeNull()
})

test('one that comes while the last one stops it waits and starts it anew', async () => {
  const directory = await startedDirectory()
  let previous = await openEmbeddedPostgres(directory)
  for (let round = 0; round < 5; round++) {
    const [next] = await Promise.all([sleep(round * 5).then(() => openEmbeddedPostgres(directory)), previous.close()])
    expect(await query(next.connection, 'select 1 as one')).toEqual([{ one: 1 }])
    previous = next
  }
  await previous.close()
  expect(await postmasterOf(directory)).toBeNull()
})

test('when PostgreSQL itself is killed, its user brings it back and can still close it', async () => {
  const directory = await startedDirectory()
  const postgres = await openEmbeddedPostgres(directory)
  const pid = Number(await postmasterOf(directory))
  const other = await openElsewhere(directory)
  process.kill(pid, 'SIGKILL')
  await waitUntil(async () => ![pid, null].includes(await postmasterOf(directory)))
  await waitUntil(() =>
    query(postgres.connection, 'select 1').then(
      () => true,
      () => false,
    ),
  )
  await waitUntil(async () => (await holders(postgres.connection)) === 2)
  await other.close()
  expect(await query(postgres.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  await postgres.close()
  expect(await postmasterOf(directory)).toBeNull()
})

test('after kill -9 of both, the next start recovers', async () => {
  const directory = await startedDirectory()
  const killed = await openElsewhere(directory)
  const pid = Number(await postmasterOf(directory))
  await killed.kill()
  process.kill(pid, 'SIGKILL')
  const next = await openEmbeddedPostgres(directory)
  expect(await postmasterOf(directory)).not.toBe(pid)
  expect(await query(next.connection, 'select 1 as one')).toEqual([{ one: 1 }])
  await next.close()
})

test('close() works when its connection was lost and when PostgreSQL is gone', async () => {
  const directory = await startedDirectory()
  const cut = await openEmbeddedPostgres(directory)
  await query(cut.connection, `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'rollcall lock'`)
  await cut.close()
  expect(await postmasterOf(directory)).toBeNull()

  const gone = await openEmbeddedPostgres(directory)
  process.kill(Number(await postmasterOf(directory)), 'SIGINT')
  await gone.close()
  await waitUntil(async () => (await postmasterOf(directory)) === null)
})

async function holders(connection: Parameters<typeof query>[0]): Promise<unknown> {
  const [row] = await query(connection, `select count(*)::int as n from pg_locks where locktype = 'advisory' and granted`)
  return row?.n
}
