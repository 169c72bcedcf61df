/** Which acts of the journal a restore does again, and which it leaves. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { adoptRestored, type RestoreDeps, restoreDatabase } from '@rollcall/admin/backup/restore'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { addParticipant, setParticipantStatus } from '@rollcall/admin/participants/participants'
import { changeParticipantPolicy } from '@rollcall/admin/participants/policy'
import { deleteRecords, importRecords } from '@rollcall/admin/records/records'
import { removeRegistry } from '@rollcall/admin/removal'
import { readNewestEntryTime } from '@rollcall/audit/store/open-chains'
import { refuseDatabaseBehindJournal } from '@rollcall/backup/journal/journal'
import type { Journal } from '@rollcall/core/model/journal'
import { withTransaction } from '@rollcall/database/transaction'
import { lockRegistryFor } from '@rollcall/delivery/store/events/lock'
import { promoteParticipant } from '@rollcall/participants/store/promote-participant'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { personRowsSql } from '../../../../audit/src/store/packed-persons.ts'
import { subscribeLive } from '../../../../delivery/test/subscriptions.ts'
import { EVERYTHING } from '../../../../participants/test/grants.ts'
import { audited, backupOf, depsOf, erased, folder, type Place, person, target, type World, world } from '../../restoring.ts'

const sender_id = 'spmis.example'

async function started(): Promise<{ from: World; journal: string; deps: RestoreDeps }> {
  const from = await world()
  const journal = join(await folder(), 'journal')
  const deps = depsOf(from, journal)
  await addParticipant(acting(deps), { sender_id, name: 'SPMIS' })
  return { from, journal, deps }
}

async function rowsOf({ ownerDb }: Place, statement: string) {
  return (await ownerDb.pool.query(statement)).rows
}

test('a removal that was refused at the last moment is not in the journal', async () => {
  const { from, journal, deps } = await started()
  await removeRegistry(acting({ ...deps, pause: async () => undefined }), { namespace: 'social' })
  await from.ownerDb.pool.query(
    `delete from notification; delete from rollcall_outbox.event;
     update subscription set state = 'ended', reason = 'expired', ended_at = now()`,
  )
  const file = await backupOf(from)
  const pause = () => subscribeLive(deps.db, from.civil, 'DEATH')
  await expect(removeRegistry(acting({ ...deps, pause }), { namespace: 'civil' })).rejects.toThrow(
    'civil is still in use (subscriptions 1): let it end, or end it with --end (end in the input)',
  )
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal: [journal] })
  expect(done.journal).toBe(0)
  expect(await rowsOf(into, 'select namespace from registry')).toEqual([{ namespace: 'civil' }])
  expect(await rowsOf(into, 'select count(*)::int from r1_person')).toEqual([{ count: 4 }])
})

/** Does something when the line is written and its act is not yet done. */
function between(deps: RestoreDeps, work: () => Promise<unknown>): RestoreDeps {
  const { journal } = deps.db
  const write: Journal['write'] = (act, commit) =>
    journal.write(act, async () => {
      await work()
      return commit()
    })
  return { ...deps, db: { ...deps.db, journal: { ...journal, write } } }
}

const PERSONS = `select count(*)::int from ${personRowsSql()} as person`

test('a backup that knows the line of an act and not yet the act does not undo it', async () => {
  const { from, journal, deps } = await started()
  await audited(deps, '2')
  const files: string[] = []
  const during = between(deps, async () => files.push(await backupOf(from)))
  await erased(during, '2')
  await removeRegistry(acting({ ...during, pause: async () => undefined }), { namespace: 'civil', end: true })
  await setParticipantStatus(during, { sender_id, status: 'disabled' })
  expect(files.length).toBe(3)
  const [erasing = '', removing = '', disabling = ''] = files
  const [one, two, three] = [await target(), await target(), await target()]
  await expect(restoreDatabase(acting(depsOf(one)), { file: erasing, journal: [journal] })).resolves.toMatchObject({ journal: 3 })
  expect(await rowsOf(one, PERSONS)).toEqual([{ count: 1 }])
  await restoreDatabase(acting(depsOf(two)), { file: removing, journal: [journal] })
  expect(await rowsOf(two, 'select namespace from registry')).toEqual([{ namespace: 'social' }])
  await expect(restoreDatabase(acting(depsOf(three)), { file: disabling, journal: [journal] })).resolves.toMatchObject({
    journal: 1,
  })
  expect(await rowsOf(three, 'select status from participant')).toEqual([{ status: 'disabled' }])
  // Done acts stay done: neither the source nor the restored databases have open lines.
  for (const place of [from, one, two, three]) expect(await rowsOf(place, 'select from journal_open_line')).toEqual([])
  await expect(
    restoreDatabase(acting(depsOf(await target())), { file: await backupOf(from), journal: [journal] }),
  ).resolves.toMatchObject({ journal: 0 })
})

test('a backup in the middle of an act on settings does not undo it', async () => {
  const { from, journal, deps } = await started()
  await setGrant(acting(deps), { sender_id, namespace: 'civil', terms: EVERYTHING })
  const { file, revoked } = await withTransaction(from.db.pool, async (client) => {
    await lockRegistryFor(client, from.civil.id, 'change')
    const revoked = revokeGrant(acting(deps), { sender_id, namespace: 'civil' })
    const waiting = `select from pg_locks join pg_database on pg_database.oid = database
      where not granted and datname = current_database()`
    await expect.poll(() => rowsOf(from, waiting)).toHaveLength(1)
    return { file: await backupOf(from), revoked }
  })
  expect(await revoked).toMatchObject({ revoked: 1 })
  expect(await rowsOf(from, 'select from journal_open_line')).toEqual([])
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal: [journal] })).resolves.toMatchObject({ journal: 1 })
  expect(await rowsOf(into, 'select from participant_grant where revoked_at is null')).toEqual([])
})

test('a line of a crashed process stays open for a day, also for a database that is adopted', async () => {
  const { from, journal, deps } = await started()
  const crashing = between(deps, () => Promise.reject(new Error('killed')))
  await expect(setParticipantStatus(crashing, { sender_id, status: 'disabled' })).rejects.toThrow('killed')
  const file = await backupOf(from)
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, journal: [journal] })
  expect(await rowsOf(into, 'select status from participant')).toEqual([{ status: 'disabled' }])
  await expect(restoreDatabase(acting(depsOf(await target())), { file, journal: [] })).rejects.toThrow(
    /^the journal does not have line 1/,
  )
  await setParticipantStatus(deps, { sender_id, status: 'active' })
  await expect(setParticipantStatus(crashing, { sender_id, status: 'disabled' })).rejects.toThrow('killed')
  await from.db.pool.query(`update journal_open_line set opened_at = now() - interval '25 hours'`)
  const later = await target()
  await expect(restoreDatabase(acting(depsOf(later)), { file: await backupOf(from), journal: [journal] })).resolves.toMatchObject(
    { journal: 0 },
  )
  expect(await rowsOf(later, 'select status from participant')).toEqual([{ status: 'active' }])
  await expect(setParticipantStatus(crashing, { sender_id, status: 'disabled' })).rejects.toThrow('killed')
  await expect(adoptRestored(acting(depsOf(from)), { journal: [journal] })).resolves.toMatchObject({ journal: 1 })
  expect(await rowsOf(from, 'select status from participant')).toEqual([{ status: 'disabled' }])
})

test('a line that was open at the recovery is repeated, however late the database is adopted', async () => {
  const { from, journal, deps } = await started()
  const crashing = between(deps, () => Promise.reject(new Error('killed')))
  await expect(setParticipantStatus(crashing, { sender_id, status: 'disabled' })).rejects.toThrow('killed')
  await from.ownerDb.pool.query(`update account set at = at - interval '3 days'`)
  await from.db.pool.query(`update journal_open_line set opened_at = now() - interval '3 days', timeline = 'FFFFFFFF'`)
  const newest = await readNewestEntryTime(from.db.pool)
  await expect(refuseDatabaseBehindJournal(from.db, journal, newest)).rejects.toThrow(
    'PostgreSQL was recovered, or another machine took over, while an act of the journal was not yet committed.',
  )
  await expect(adoptRestored(acting(depsOf(from)), { journal: [journal] })).resolves.toMatchObject({ journal: 1 })
  expect(await rowsOf(from, 'select status from participant')).toEqual([{ status: 'disabled' }])
})

test('a removal that was no event is none when it is repeated', async () => {
  const { from, journal, deps } = await started()
  const file = await backupOf(from)
  const source = join(await folder(), 'two.ndjson')
  await writeFile(source, ['1', '2'].map((uin) => `${JSON.stringify(person(uin))}\n`).join(''))
  const complete = { namespace: 'civil', complete: true, allow_removal: 2, events: 'none' } as const
  await importRecords(acting({ ...deps, source }), complete)
  await deleteRecords(acting(deps), { namespace: 'civil', record_type: 'Person', identifiers: ['2'] })
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal: [journal] })).resolves.toMatchObject({ journal: 2 })
  expect(await rowsOf(into, 'select primary_identifier from r1_person')).toEqual([{ primary_identifier: '1' }])
  // The event that the backup has, and the one of `record delete`.
  expect(await rowsOf(into, 'select count(*)::int from event')).toEqual([{ count: 2 }])
})

test('the journal of another database under the same master key is refused', async () => {
  const { from } = await started()
  const file = await backupOf(from)
  const other = await started()
  await setParticipantStatus(other.deps, { sender_id, status: 'disabled' })
  await expect(restoreDatabase(acting(depsOf(await target())), { file, journal: [other.journal] })).rejects.toThrow(
    'line 1 of the journal is of another database: give only the files of the one that is restored',
  )
})

test('a promotion, and an address of keys that was replaced, hold in the restored database', async () => {
  const { from, journal, deps } = await started()
  await addParticipant(acting(deps), { sender_id: 'new.example', name: 'N', environment: 'sandbox' })
  await from.db.pool.query(`update participant set jwks_uri = 'https://old.example/jwks' where sender_id = $1`, [sender_id])
  const file = await backupOf(from)
  const [row] = await rowsOf(from, `select id, sender_id from participant where sender_id = 'new.example'`)
  const live = { keys: [], former: [], jwks_uri: 'https://new.example/jwks', sha256: Buffer.alloc(32, 7) }
  await promoteParticipant(deps.db, row, live)
  await expect(promoteParticipant(deps.db, row, live)).rejects.toThrow('new.example is live already')
  await changeParticipantPolicy(acting(deps), { sender_id, jwks_uri: null })
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal: [journal] })
  // The promotion that was refused has no line.
  expect(done.journal).toBe(2)
  const state = `select sender_id, environment, jwks_uri,
    (select array_agg(encode(sha256, 'hex')) from participant_secret
      where participant_secret.participant = participant.id and retired_at is null) as secrets
    from participant order by 1`
  const [promoted, changed] = await rowsOf(into, state)
  expect(promoted).toMatchObject({ environment: 'live', jwks_uri: live.jwks_uri, secrets: ['07'.repeat(32)] })
  expect(changed).toMatchObject({ sender_id, jwks_uri: null })
})

test('a database that was adopted is backed up and restored like any other, and that one again', async () => {
  const { from, journal, deps } = await started()
  await setParticipantStatus(deps, { sender_id, status: 'disabled' })
  await adoptRestored(acting(depsOf(from)), { journal: [journal] })
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file: await backupOf(from), journal: [journal] })
  const again = await target()
  await restoreDatabase(acting(depsOf(again)), { file: await backupOf(into), journal: [journal] })
  expect(await rowsOf(again, 'select status from participant')).toEqual([{ status: 'disabled' }])
  expect(await rowsOf(again, 'select count(distinct id)::int from account_tombstone')).toEqual([{ count: 3 }])
})
