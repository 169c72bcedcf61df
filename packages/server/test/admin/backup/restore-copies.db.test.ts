/** A database and its copies: none writes into the journal of another, and none goes on where an act was lost. */
import { join } from 'node:path'
import { adoptRestored, type RestoreDeps, restoreDatabase } from '@rollcall/admin/backup/restore'
import { addParticipant, setParticipantStatus } from '@rollcall/admin/participants/participants'
import { refuseDatabaseBehindJournal } from '@rollcall/backup/journal/journal'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { backupOf, depsOf, folder, target, type World, world } from '../../restoring.ts'

const sender_id = 'spmis.example'

async function started(): Promise<{ from: World; journal: string; deps: RestoreDeps }> {
  const from = await world()
  const journal = join(await folder(), 'journal')
  const deps = depsOf(from, journal)
  await addParticipant(acting(deps), { sender_id, name: 'SPMIS' })
  return { from, journal, deps }
}

const disable = (deps: RestoreDeps) => setParticipantStatus(deps, { sender_id, status: 'disabled' })

const OTHER_COPY = (path: string) =>
  `the journal ${path} was written by another copy of this database, and this one does not write into it. ` +
  'A restored database begins a new file: name it in ROLLCALL_JOURNAL, and keep the earlier one (docs/backup.md)'

test('a copy that was restored elsewhere writes nothing into the journal of the database', async () => {
  const { from, journal, deps } = await started()
  await disable(deps)
  const file = await backupOf(from)
  const copy = await target()
  await restoreDatabase(acting(depsOf(copy)), { file, journal: [journal] })
  await expect(disable(depsOf(copy, journal))).rejects.toThrow(OTHER_COPY(journal))
  await expect(refuseDatabaseBehindJournal(copy.db, journal)).rejects.toThrow(OTHER_COPY(journal))
  // The database itself goes on.
  await disable(deps)
  await expect(refuseDatabaseBehindJournal(from.db, journal)).resolves.toBeUndefined()
  await expect(restoreDatabase(acting(depsOf(await target())), { file, journal: [journal] })).resolves.toMatchObject({
    journal: 1,
  })
})

test('a restored database begins a file of its own, and both files restore it again', async () => {
  const { from, journal, deps } = await started()
  const first = await backupOf(from)
  await disable(deps)
  const restored = await target()
  await restoreDatabase(acting(depsOf(restored)), { file: first, journal: [journal] })
  const next = join(await folder(), 'journal')
  await disable(depsOf(restored, next))
  await expect(refuseDatabaseBehindJournal(restored.db, next)).resolves.toBeUndefined()
  await expect(restoreDatabase(acting(depsOf(await target())), { file: first, journal: [journal, next] })).resolves.toMatchObject(
    { journal: 2 },
  )
  const second = await backupOf(restored)
  await disable(depsOf(restored, next))
  await expect(
    restoreDatabase(acting(depsOf(await target())), { file: second, journal: [journal, next] }),
  ).resolves.toMatchObject({ journal: 1 })
  // The one before went on as well: which of both is meant?
  await disable(deps)
  await expect(restoreDatabase(acting(depsOf(await target())), { file: first, journal: [journal, next] })).rejects.toThrow(
    'two copies of the database wrote line 2 of the journal: give only the files of the one that is restored',
  )
})

test('a server does not start after a recovery to the moment between a line and its act', async () => {
  const { from, journal, deps } = await started()
  await disable(deps)
  await expect(refuseDatabaseBehindJournal(from.db, journal)).resolves.toBeUndefined()
  const { pool } = from.db
  // As recovery leaves it: the line is known, or begun alone, and PostgreSQL is in another timeline.
  await pool.query(`insert into journal_open_line (sequence, timeline) values (1, 'FFFFFFFF')`)
  await pool.query(`update participant set status = 'active'`)
  await expect(refuseDatabaseBehindJournal(from.db, journal)).rejects.toThrow(
    'PostgreSQL was recovered, or another machine took over, while an act of the journal was not yet committed. ' +
      'Run rollcall restore adopt (docs/backup.md)',
  )
  await pool.query('delete from journal_open_line')
  await pool.query(`update journal_head set sequence = 0, digest = decode(repeat('0', 64), 'hex'), begun = 1`)
  // A process that was killed leaves the same, in the same timeline.
  await expect(refuseDatabaseBehindJournal(from.db, journal)).resolves.toBeUndefined()
  await pool.query(`update journal_head set timeline = 'FFFFFFFF'`)
  await expect(refuseDatabaseBehindJournal(from.db, journal)).rejects.toThrow(
    'the journal has acts that this database does not know: it was restored to an earlier time. ' +
      'Run rollcall restore adopt (docs/backup.md)',
  )
  await expect(adoptRestored(acting(depsOf(from)), { journal: [journal] })).resolves.toMatchObject({ journal: 1 })
  const { rows } = await pool.query('select status from participant where sender_id = $1', [sender_id])
  expect(rows).toEqual([{ status: 'disabled' }])
  await expect(refuseDatabaseBehindJournal(from.db, join(await folder(), 'new'))).resolves.toBeUndefined()
})
