/** Which acts of the journal a restore does again, and which it leaves. */
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { backupOf, folder, needsOf, type Place, target, type World, world } from '../../test/restoring.ts'
import { subscribeLive } from '../../test/subscriptions.ts'
import { addParticipant } from './participants.ts'
import { removeRegistry } from './removal.ts'
import { type RestoreNeeds, restoreDatabase } from './restore.ts'

const sender_id = 'spmis.example'

async function started(): Promise<{ from: World; journal: string; needs: RestoreNeeds }> {
  const from = await world()
  const journal = join(await folder(), 'journal')
  const needs = needsOf(from, journal)
  await addParticipant(needs, { sender_id, name: 'SPMIS' })
  return { from, journal, needs }
}

async function rowsOf({ ownerDb }: Place, statement: string) {
  return (await ownerDb.pool.query(statement)).rows
}

test('a removal that was refused at the last moment is not in the journal', async () => {
  const { from, journal, needs } = await started()
  await removeRegistry({ ...needs, pause: async () => undefined }, { namespace: 'social' })
  await from.ownerDb.pool.query(
    `delete from notification; delete from rollcall_outbox.event;
     update subscription set state = 'ended', reason = 'expired', ended_at = now()`,
  )
  const file = await backupOf(from)
  const pause = () => subscribeLive(needs.db, from.civil, 'DEATH')
  await expect(removeRegistry({ ...needs, pause }, { namespace: 'civil' })).rejects.toThrow(
    'civil is still in use (subscriptions 1): let it end, or give end, which ends it',
  )
  const into = await target()
  const done = await restoreDatabase(needsOf(into), { file, journal: [journal] })
  expect(done.journal).toBe(0)
  expect(await rowsOf(into, 'select namespace from registry')).toEqual([{ namespace: 'civil' }])
  expect(await rowsOf(into, 'select count(*)::int from r1_person')).toEqual([{ count: 4 }])
})
