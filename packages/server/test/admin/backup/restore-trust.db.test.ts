/** Trust that was weakened, and tightened again after the backup: a restore does not bring it back. */
import { join } from 'node:path'
import { ActWaitsError, createApprovalService } from '@rollcall/admin/approvals/approval'
import { approveProposal, declineProposal, requireOperatorOfToken, showProposal } from '@rollcall/admin/approvals/proposals'
import { adoptRestored, type RestoreDeps, restoreDatabase } from '@rollcall/admin/backup/restore'
import { addOperator } from '@rollcall/admin/operators/operators'
import { addParticipantKeys, listParticipantKeys } from '@rollcall/admin/participants/keys'
import { addParticipant } from '@rollcall/admin/participants/participants'
import { findAuthority, putAuthority } from '@rollcall/consents/store/authorities'
import { DEFAULT_LIMITS as limits } from '@rollcall/core/limits'
import { findParticipant, setMessagePolicy } from '@rollcall/participants/store/participants'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair, publicKey } from '../../../../core/test/key-pairs.ts'
import { backupOf, depsOf, folder, target, world } from '../../restoring.ts'

const sender_id = 'spmis.example'

async function started() {
  const from = await world()
  const journal = join(await folder(), 'journal')
  const deps = depsOf(from, journal)
  return { from, journal: [journal], deps, db: deps.db }
}

test('a weaker policy, and hosts that were removed, do not come back to a participant', async () => {
  const { from, journal, deps, db } = await started()
  await addParticipant(acting(deps), { sender_id, name: 'SPMIS' })
  const kept = { host: 'peer.example', ports: [8443] }
  const [plain, moved] = [
    { host: 'plain.example', plainHttp: true },
    { host: 'moved.example', private: true },
  ]
  await setMessagePolicy(db, sender_id, {
    signature_policy: 'off',
    allow_unsigned: true,
    encryption_policy: 'refused',
    outgoing: [kept, plain, moved],
  })
  const file = await backupOf(from)
  await setMessagePolicy(db, sender_id, { signature_policy: 'if-present', allow_unsigned: true })
  await setMessagePolicy(db, sender_id, { signature_policy: 'required', encryption_policy: 'required' })
  await setMessagePolicy(db, sender_id, { outgoing: [kept, { host: 'moved.example' }] })
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal })).resolves.toMatchObject({ journal: 3, undone: [] })
  // A host under another rule is entered again.
  expect(await findParticipant(into.db, sender_id)).toMatchObject({
    signature_policy: 'required',
    allow_unsigned: false,
    encryption_policy: 'required',
    outgoing: [kept],
  })
  // Loosening has no line in the journal: the stricter policy stays after a restore.
  await setMessagePolicy(db, sender_id, { signature_policy: 'off', allow_unsigned: true })
  await setMessagePolicy(db, sender_id, { outgoing: [kept, plain] })
  const again = await target()
  await expect(restoreDatabase(acting(depsOf(again)), { file, journal })).resolves.toMatchObject({ journal: 4 })
  expect(await findParticipant(again.db, sender_id)).toMatchObject({ signature_policy: 'required' })
})

test('what waited for a second operator has lapsed: it may have been declined after the backup', async () => {
  const { from, deps } = await started()
  await addParticipant(acting(deps), { sender_id, name: 'SPMIS' })
  const caller = async (name: string) => {
    const { token } = await addOperator(acting(deps), { name, roles: ['own'] })
    return { kind: 'operator', operator: await requireOperatorOfToken(deps, token) } as const
  }
  const [ada, bea] = [await caller('ada'), await caller('bea')]
  const approvals = createApprovalService({ limits })
  const key = { sender_id, keys: JSON.stringify({ ...keyPair('Ed25519').jwk, kid: 'waiting' }) }
  const proposed = async (at: RestoreDeps): Promise<string> => {
    const asking = { ...at, caller: ada, approvals }
    const waiting = await addParticipantKeys(acting(asking), key).catch((error: unknown) => error)
    if (!(waiting instanceof ActWaitsError)) throw waiting
    return waiting.proposal.id
  }
  const id = await proposed(deps)
  const file = await backupOf(from)
  await declineProposal(acting({ ...deps, caller: bea }), { id })
  const without = { without_journal: 'the disk is lost' }
  const into = await target()
  const after = { ...depsOf(into), caller: bea }
  const isLapsed = async (one: string) => {
    expect(await showProposal(acting(after), { id: one })).toMatchObject({ state: 'lapsed', confidential: null })
    await expect(approveProposal(acting(after), { id: one })).rejects.toThrow('the proposal does not wait any more: it is lapsed')
  }
  await restoreDatabase(acting(after), { file, ...without })
  await isLapsed(id)
  // The same where it was restored by other means.
  const later = await proposed(after)
  await into.ownerDb.pool.query('delete from restoration')
  await adoptRestored(acting(after), without)
  await isLapsed(later)
  expect((await into.ownerDb.pool.query('select from proposal where sealed is not null')).rows).toEqual([])
  expect(await listParticipantKeys(after, { sender_id })).toEqual([])
})

test('keys, addresses and hosts that a consent authority had before do not come back', async () => {
  const { from, journal, db } = await started()
  const [old, current] = [await publicKey('Ed25519', { kid: 'old' }), await publicKey('Ed25519', { kid: 'current' })]
  const host = { host: 'old.example', private: true }
  const first = { name: 'ministry', jwks_uri: 'https://old.example/jwks', outgoing: [host], keys: [old] }
  await putAuthority(db, first)
  await putAuthority(db, { ...first, name: 'same' })
  const file = await backupOf(from)
  const replaced = { ...first, jwks_uri: 'https://new.example/jwks', outgoing: [], keys: [current] }
  await putAuthority(db, replaced)
  // Nothing is taken away: it has no line.
  await putAuthority(db, { ...first, name: 'same', keys: [old, await publicKey('Ed25519', { kid: 'more' })] })
  await putAuthority(db, { ...first, name: 'newer' })
  await putAuthority(db, { ...replaced, name: 'newer' })
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal })).resolves.toMatchObject({ journal: 2, undone: [] })
  expect(await findAuthority(into.db, 'ministry')).toMatchObject({ jwks_uri: 'https://new.example/jwks', outgoing: [], keys: [] })
  expect(await findAuthority(into.db, 'same')).toMatchObject({ keys: [{ kid: 'old' }], outgoing: [host] })
  expect(await findAuthority(into.db, 'newer')).toBeNull()
})
