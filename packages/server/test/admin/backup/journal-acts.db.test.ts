/** Acts of the journal whose persons, authorities or participants the backup does not have, or has otherwise. */

import { generateKeyPairSync } from 'node:crypto'
import { join } from 'node:path'
import { type RestoreDeps, restoreDatabase } from '@rollcall/admin/backup/restore'
import { addConsentAuthority } from '@rollcall/admin/consents/authorities'
import { revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { addParticipantKeys, revokeParticipantKey } from '@rollcall/admin/participants/keys'
import { addParticipant } from '@rollcall/admin/participants/participants'
import { addHold, removeHold } from '@rollcall/admin/persons/holds'
import { protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { addIdentifierType } from '@rollcall/admin/registries/identifier-types'
import { applyIndexes } from '@rollcall/admin/registries/indexes'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { personRowsSql } from '../../../../audit/src/store/packed-persons.ts'
import { audited, backupOf, depsOf, erased, folder, type Place, target, type World, world } from '../../restoring.ts'

async function started(): Promise<{ from: World; journal: string[]; deps: RestoreDeps }> {
  const from = await world()
  const path = join(await folder(), 'journal')
  return { from, journal: [path], deps: depsOf(from, path) }
}

async function rowsOf({ ownerDb }: Place, statement: string) {
  return (await ownerDb.pool.query(statement)).rows
}

const child = { namespace: 'civil', identifier_type: 'UIN', identifier_value: '3' }
const PROTECTED = 'select type, value, category from protected_person'
const HELD_OF_PERSONS = `select count(*)::int from ${personRowsSql()} as person`

test('a person is protected again although identifiers of the backup are to be backfilled', async () => {
  const { from, journal, deps } = await started()
  await addIdentifierType(acting(deps), { namespace: 'civil', name: 'NIDX' })
  const file = await backupOf(from)
  await applyIndexes(acting(deps), { namespace: 'civil' })
  await protectPerson(acting(deps), { ...child, category: 'shelter', reason: 'court order' })
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done).toMatchObject({ journal: 1, undone: [] })
  expect(await rowsOf(into, PROTECTED)).toEqual([{ type: 'UIN', value: '3', category: 'shelter' }])
  expect(await rowsOf(into, 'select count(*)::int from protected_record')).toEqual([{ count: 1 }])
})

test('a person who is protected under another category since the backup gets that one', async () => {
  const { from, journal, deps } = await started()
  await protectPerson(acting(deps), { ...child, category: 'adoption', reason: 'court order' })
  const file = await backupOf(from)
  await unprotectPerson(acting(deps), child)
  await protectPerson(acting(deps), { ...child, category: 'witness_protection', reason: 'court order' })
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done.undone).toEqual([])
  expect(await rowsOf(into, PROTECTED)).toEqual([{ type: 'UIN', value: '3', category: 'witness_protection' }])
})

test('a protection that was refused is not repeated, so the person keeps the category', async () => {
  const { from, journal, deps } = await started()
  await protectPerson(acting(deps), { ...child, category: 'shelter', reason: 'court order' })
  const file = await backupOf(from)
  await expect(protectPerson(acting(deps), { ...child, category: 'adoption', reason: 'mistake' })).rejects.toThrow(
    'identifier: the person is protected already; lift that protection first',
  )
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done).toMatchObject({ journal: 0, undone: [] })
  expect(await rowsOf(into, PROTECTED)).toEqual([{ type: 'UIN', value: '3', category: 'shelter' }])
})

test('a hold of the backup that ended before an erasure does not bring the person back', async () => {
  const { from, journal, deps } = await started()
  await audited(deps, '2')
  const period = { from: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z', reason: 'audit' }
  const hold = await addHold(acting(deps), period)
  const file = await backupOf(from)
  await removeHold(acting(deps), { id: hold.id })
  await erased(deps, '2')
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(await rowsOf(into, HELD_OF_PERSONS)).toEqual(await rowsOf(from, HELD_OF_PERSONS))
  expect(await rowsOf(into, 'select removed_by from hold')).toEqual([{ removed_by: 'restore' }])
})

test('a hold that was in force when a person was erased keeps what it kept', async () => {
  const { from, journal, deps } = await started()
  await audited(deps, '2')
  await addHold(acting(deps), { from: '2020-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z', reason: 'audit' })
  const file = await backupOf(from)
  await erased(deps, '2')
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(await rowsOf(into, HELD_OF_PERSONS)).toEqual(await rowsOf(from, HELD_OF_PERSONS))
  expect(await rowsOf(into, 'select removed_by from hold')).toEqual([{ removed_by: null }])
})

const newKeys = () => [generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()]

test('a consent stays revoked when its authority is newer than the backup, and added again', async () => {
  const { from, journal, deps } = await started()
  const authority = { name: 'https://consent.example', keys: newKeys() }
  const file = await backupOf(from)
  await addConsentAuthority(acting(deps), authority)
  await withdrawConsent(acting(deps), { authority: authority.name, jti: 'j-1' })
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done.undone).toEqual([])
  await addConsentAuthority(acting(depsOf(into)), authority)
  const revoked = `select jti from signed_consent join consent_authority on id = authority
    where revoked_at is not null and removed_at is null`
  expect(await rowsOf(into, revoked)).toEqual([{ jti: 'j-1' }])
})

test('a revocation that is refused is not in the journal, so no restore repeats it', async () => {
  const { from, journal, deps } = await started()
  const authority = 'https://consent.example'
  await addConsentAuthority(acting(deps), { name: authority, keys: newKeys() })
  const file = await backupOf(from)
  const refusal = { message: 'jti: must have 1 to 200 characters' }
  await expect(revokeConsents(acting(deps), { authority, revoked: ['a', ''] })).rejects.toMatchObject(refusal)
  await expect(withdrawConsent(acting(deps), { authority, jti: '\0' })).rejects.toMatchObject(refusal)
  expect(await rowsOf(from, 'select sequence from journal_open_line')).toEqual([])
  // A character may be two code units.
  const jti = '𐍈'.repeat(200)
  await expect(revokeConsents(acting(deps), { authority, revoked: [`${jti}𐍈`] })).rejects.toMatchObject(refusal)
  await revokeConsents(acting(deps), { authority, revoked: [jti] })
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done).toMatchObject({ journal: 1, undone: [] })
  expect(await rowsOf(into, 'select jti from signed_consent')).toEqual([{ jti }])
})

test('a restore does not end before a withdrawal from a participant newer than the backup is done', async () => {
  const { from, journal, deps } = await started()
  await addPurpose(acting(deps), { code: 'pension' })
  const file = await backupOf(from)
  const participant = { sender_id: 'new.example', name: 'New' }
  await addParticipant(acting(deps), participant)
  const person = { identifier_type: 'UIN', identifier_value: '1', purpose: 'pension' }
  await withdrawConsent(acting(deps), { ...person, participant: participant.sender_id })
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal })).rejects.toMatchObject({
    reason: 'conflict',
    message: expect.stringMatching(
      /^acts of the journal could not be done: consent_withdrawn 1 \(.*new\.example.*\)\. Servers do not start\./,
    ),
  })
  expect(await rowsOf(into, 'select applied_at from restoration')).toEqual([{ applied_at: null }])
  await addParticipant(acting(depsOf(into)), participant)
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done.undone).toEqual([])
  const withdrawals = 'select sender_id from consent_withdrawal join participant on participant.id = participant'
  expect(await rowsOf(into, withdrawals)).toEqual([{ sender_id: 'new.example' }])
})

const KEYS = 'select kid, participant, former_sender_id, revoked_at is not null as revoked from participant_key'
const REVOKED_KEY = { message: 'this key was revoked, and a revoked key cannot be registered again; make a new key' }

test('a key that was revoked stays revoked when its participant is newer than the backup', async () => {
  const { from, journal, deps } = await started()
  const file = await backupOf(from)
  const [participant, [keys = '']] = [{ sender_id: 'new.example', name: 'New' }, newKeys()]
  const { sender_id } = participant
  await addParticipant(acting(deps), participant)
  const [key] = await addParticipantKeys(acting(deps), { sender_id, keys })
  const kid = key?.kid ?? ''
  await revokeParticipantKey(acting(deps), { sender_id, kid })
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done).toMatchObject({ journal: 1, undone: [] })
  expect(await rowsOf(into, KEYS)).toEqual([{ kid, participant: null, former_sender_id: sender_id, revoked: true }])
  await addParticipant(acting(depsOf(into)), participant)
  await expect(addParticipantKeys(acting(depsOf(into)), { sender_id, keys })).rejects.toMatchObject(REVOKED_KEY)
})

test('a key that was revoked stays revoked when the key, or nothing, is newer than the backup', async () => {
  const { from, journal, deps } = await started()
  const sender_id = 'old.example'
  const [[one = ''], [two = ''], [three = '']] = [newKeys(), newKeys(), newKeys()]
  await addParticipant(acting(deps), { sender_id, name: 'Old' })
  await addParticipantKeys(acting(deps), { sender_id, keys: one, kid: 'one' })
  await addParticipantKeys(acting(deps), { sender_id, keys: three, kid: 'three' })
  const file = await backupOf(from)
  await addParticipantKeys(acting(deps), { sender_id, keys: two, kid: 'two' })
  for (const kid of ['one', 'two']) await revokeParticipantKey(acting(deps), { sender_id, kid })
  // As earlier versions wrote it: without the key.
  await deps.db.journal.write({ kind: 'participant_key_revoked', participant: sender_id, kid: 'three' }, async () => undefined)
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal })
  expect(done).toMatchObject({ journal: 3, undone: [] })
  expect(await rowsOf(into, `${KEYS} order by kid`)).toMatchObject([
    { kid: 'one', revoked: true },
    { kid: 'three', revoked: true },
    { kid: 'two', revoked: true },
  ])
  await expect(addParticipantKeys(acting(depsOf(into)), { sender_id, keys: two })).rejects.toMatchObject(REVOKED_KEY)
})

test('an act that cannot be done does not stop the others, and may be accepted', async () => {
  const { from, journal, deps } = await started()
  const file = await backupOf(from)
  await addIdentifierType(acting(deps), { namespace: 'civil', name: 'NIDX' })
  await applyIndexes(acting(deps), { namespace: 'civil' })
  const unknown = { namespace: 'civil', identifier_type: 'NIDX', identifier_value: '77' }
  await protectPerson(acting(deps), { ...unknown, category: 'shelter', reason: 'court order' })
  await protectPerson(acting(deps), { ...child, category: 'shelter', reason: 'court order' })
  const into = await target()
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal })).rejects.toThrow(
    'acts of the journal could not be done: person_protected 1 (identifier_type: must be one of',
  )
  const done = await restoreDatabase(acting(depsOf(into)), { file, journal, accept_undone: true })
  expect(done.undone).toEqual([
    { kind: 'person_protected', rule: expect.stringMatching(/^identifier_type: must be one of /), acts: 1 },
  ])
  expect(await rowsOf(into, PROTECTED)).toEqual([{ type: 'UIN', value: '3', category: 'shelter' }])
  const signed = `select content::jsonb -> 'undone' as undone from account_tombstone
    where content::jsonb ->> 'kind' = 'restore'`
  expect(await rowsOf(into, signed)).toEqual([{ undone: 1 }])
})
