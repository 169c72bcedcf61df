/** A restore does not undo erasures and revocations, writes an audit entry, and holds what would be sent. */

import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { releaseRestored } from '@rollcall/admin/backup/release'
import { adoptRestored, type RestoreDeps, restoreDatabase } from '@rollcall/admin/backup/restore'
import { withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { addOperator, revokeOperator } from '@rollcall/admin/operators/operators'
import { revokeOwnKey } from '@rollcall/admin/operators/own-keys'
import { addParticipant, rotateParticipantSecret, setParticipantStatus } from '@rollcall/admin/participants/participants'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { pruneStoredData } from '@rollcall/admin/persons/retention'
import { deleteRecords } from '@rollcall/admin/records/records'
import { removeRegistry } from '@rollcall/admin/removal'
import { verifyAuditLog } from '@rollcall/audit/verify/verify'
import { areMessagesHeldByRestore } from '@rollcall/backup/store/restorations'
import { deliveryBodyBinding } from '@rollcall/core/model/delivery'
import { createBodyEncryption } from '@rollcall/keys/bodies'
import { ensureAndLoadOwnKeys } from '@rollcall/keys/own-keys'
import { ensureOwnKeys } from '@rollcall/keys/rotation'
import { listOwnKeys } from '@rollcall/keys/store/own-keys'
import { CompactSign, compactVerify, createLocalJWKSet } from 'jose'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { personRowsSql } from '../../../../audit/src/store/packed-persons.ts'
import { EVERYTHING } from '../../../../participants/test/grants.ts'
import { witnessOf } from '../../../../settings/test/tampering.ts'
import { audited, backupOf, depsOf, erased, folder, masterKeys, type Place, target, type World, world } from '../../restoring.ts'

const sender_id = 'spmis.example'
const without = { without_journal: 'the disk is lost' } as const

/** Makes a database with a participant, an operator token and a stored message of today. */
async function peopled(): Promise<{ from: World; file: string; journal: string; deps: RestoreDeps }> {
  const from = await world()
  const journal = join(await folder(), 'journal')
  const deps = depsOf(from, journal)
  await addParticipant(acting(deps), { sender_id, name: 'SPMIS' })
  await rotateParticipantSecret(acting(deps), { sender_id })
  await setGrant(acting(deps), { sender_id, namespace: 'civil', terms: EVERYTHING })
  await addPurpose(acting(deps), { code: 'pension' })
  await addOperator(acting(deps), { name: 'console', roles: ['read'] })
  await from.publish('2')
  await audited(deps, '2')
  return { from, journal, deps, file: await backupOf(from) }
}

async function rowsOf({ ownerDb }: Place, statement: string, ...values: unknown[]) {
  return (await ownerDb.pool.query(statement, values)).rows
}

/** Everything that a restore must not undo. */
async function actAfterBackup(from: World, deps: RestoreDeps): Promise<void> {
  const { db } = deps
  await erased(deps, '2')
  await protectPerson(acting(deps), {
    namespace: 'civil',
    identifier_type: 'UIN',
    identifier_value: '3',
    category: 'shelter',
    reason: 'order 1',
  })
  await deleteRecords(acting(deps), { namespace: 'civil', record_type: 'Person', identifiers: ['4'] })
  await revokeGrant(acting(deps), { sender_id, namespace: 'civil' })
  await rotateParticipantSecret(acting(deps), { sender_id })
  await setParticipantStatus(deps, { sender_id, status: 'disabled' })
  await revokeOperator(acting(deps), { name: 'console' })
  const active = (await listOwnKeys(db)).find(({ use, state }) => use === 'sig' && state === 'active')
  await revokeOwnKey(acting(deps), { kid: active?.kid ?? '' })
  await withdrawConsent(acting(deps), { identifier_type: 'UIN', identifier_value: '1', purpose: 'pension' })
  await removeRegistry(acting({ ...deps, pause: async () => undefined }), { namespace: 'social' })
  await from.ownerDb.pool.query("update body_key set day = '2020-01-01'")
  await pruneStoredData(acting(deps), {})
}

const STATE = `select
  (select count(*)::int from ${personRowsSql()} as person) as account_persons,
  (select count(*)::int from protected_person) as protected,
  (select count(*)::int from r1_person) as records, (select count(*)::int from registry) as registries,
  (select count(*)::int from participant_grant where revoked_at is null) as grants,
  (select count(*)::int from participant_secret where retired_at is null) as secrets,
  (select status from participant) as status,
  (select count(*)::int from operator_token where revoked_at is null) as operators,
  (select count(*)::int from own_key where state = 'revoked') as revoked,
  (select count(*)::int from consent_withdrawal) as withdrawn`

test('erasures, withdrawals and revocations after the backup hold in the restored database', async () => {
  const { from, file, journal, deps } = await peopled()
  await ensureOwnKeys(deps.db, await deps.vault())
  const later = await backupOf(from)
  await actAfterBackup(from, deps)
  const into = await target()
  const done = await restoreDatabase(acting(depsOf(into)), { file: later, journal: [journal] })
  expect(done.journal).toBeGreaterThan(8)
  const [state] = await rowsOf(into, STATE)
  expect(state).toEqual({
    account_persons: 1,
    protected: 1,
    records: 3,
    registries: 1,
    grants: 0,
    secrets: 1,
    status: 'disabled',
    operators: 0,
    revoked: 1,
    withdrawn: 1,
  })
  expect(file).not.toBe(later)
  // Without it, everything would be as it was.
  const bare = await target()
  await restoreDatabase(acting(depsOf(bare)), { file: later, ...without })
  const [undone] = await rowsOf(bare, STATE)
  expect(undone).toMatchObject({ account_persons: 2, protected: 0, records: 4, registries: 2, grants: 1, status: 'active' })
})

test('keys of every algorithm that a participant needed come back, and sign', async () => {
  const { from, deps } = await peopled()
  const algorithms = ['EdDSA', 'ES256', 'RS256'] as const
  for (const algorithm of algorithms) await ensureOwnKeys(deps.db, await deps.vault(), algorithm)
  const file = await backupOf(from)
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  const keysOf = async (of: Place) => ensureAndLoadOwnKeys(of.db, await depsOf(of).vault(), { error: () => undefined })
  const [before, restored] = [await keysOf(from), await keysOf(into)]
  const key_set = { keys: [...(await restored.jwks()).keys] }
  expect(key_set).toEqual(await before.jwks())
  for (const alg of algorithms) {
    const { algorithm, kid, privateKey } = await restored.signing(alg)
    expect(algorithm).toBe(alg)
    expect(kid).toBe((await before.signing(alg)).kid)
    const signed = await new CompactSign(Buffer.from('proof')).setProtectedHeader({ alg, kid }).sign(privateKey)
    const { payload } = await compactVerify(signed, createLocalJWKSet(key_set))
    expect(Buffer.from(payload).toString()).toBe('proof')
  }
})

test('the journal has no personal data in clear', async () => {
  const { from, journal, deps } = await peopled()
  await actAfterBackup(from, deps)
  const text = await readFile(journal, 'utf8')
  for (const word of ['shelter', 'order', 'UIN', sender_id, 'kind']) expect(text).not.toContain(word)
})

test('a day key that was destroyed after the backup does not come back', async () => {
  const { from, journal, deps } = await peopled()
  const vault = await deps.vault()
  const bodies = createBodyEncryption(from.db, vault)
  const sealed = await bodies.encryptBody('{"personal":"data"}', deliveryBodyBinding('one'))
  await from.ownerDb.pool.query("insert into body_key (day, sealed) select '2020-01-01', sealed from body_key")
  const file = await backupOf(from)
  await pruneStoredData(acting(deps), {})
  expect(await rowsOf(from, "select day from body_key where day = '2020-01-01'")).toEqual([])
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, journal: [journal] })
  expect(await rowsOf(into, "select day from body_key where day = '2020-01-01'")).toEqual([])
  const opened = createBodyEncryption(into.db, await depsOf(into).vault())
  expect(await opened.decryptBody(sealed, deliveryBodyBinding('one'))).toBe('{"personal":"data"}')
})

test('a journal that is older, cut in the middle, changed or of another database is refused', async () => {
  const { from, journal, deps } = await peopled()
  await protectPerson(acting(deps), {
    namespace: 'civil',
    identifier_type: 'UIN',
    identifier_value: '3',
    category: 'shelter',
    reason: 'order 1',
  })
  const older = await readFile(journal, 'utf8')
  await revokeOperator(acting(deps), { name: 'console' })
  const file = await backupOf(from)
  for (const status of ['disabled', 'active', 'disabled', 'active', 'disabled'] as const)
    await setParticipantStatus(deps, { sender_id, status })
  const whole = await readFile(journal, 'utf8')
  const lines = whole.trimEnd().split('\n')
  const into = await target()
  const tried = async (text: string, keys = masterKeys()) => {
    const changed = join(await folder(), 'changed')
    await writeFile(changed, text)
    return restoreDatabase(acting({ ...depsOf(into), masterKeys: keys }), { file, journal: [changed] })
  }
  const number = lines.length
  await expect(tried(older)).rejects.toThrow(
    `the journal does not have line ${number - 3}, which the database knows: it is older than the database, or the journal of another one`,
  )
  await expect(tried(`${lines.filter((_, at) => at !== number - 2).join('\n')}\n`)).rejects.toThrow(
    `line ${number - 1} of the journal is missing: give all its files, as they were written`,
  )
  const changed = (line = '') => line.replace(/"sealed":"(.{20})(.)/, (_, a, b) => `"sealed":"${a}${b === 'A' ? 'B' : 'A'}`)
  await expect(tried(`${[...lines.slice(0, -1), changed(lines.at(-1))].join('\n')}\n`)).rejects.toThrow(
    `line ${number} of the journal was changed, or was written under another master key`,
  )
  await expect(tried(`${[...lines.slice(0, -2), 'no line', lines.at(-1)].join('\n')}\n`)).rejects.toThrow(
    /line \d+ (of .* is no line of a journal: it was changed|of the journal is missing)/,
  )
  await expect(tried(whole.replaceAll('"at":"2', '"at":"3'))).rejects.toThrow(/is missing|was changed/)
  // Lines that a kill or a full disk has cut off were not committed; files of several nodes are one journal.
  const [one, other] = [join(await folder(), 'one'), join(await folder(), 'other')]
  const [some, others] = [0, 1].map((rest) => lines.filter((_, at) => at % 2 === rest)) as [string[], string[]]
  const torn = '{"rollcall_jour'
  await writeFile(one, `${[...some, torn].join('\n')}\n${torn}`)
  await writeFile(other, `${[...others.slice(0, -1), torn, torn, ...others.slice(-1)].join('\n')}\n`)
  await expect(restoreDatabase(acting(depsOf(into)), { file, journal: [one, other] })).resolves.toMatchObject({ journal: 3 })
})

test('a journal of before and after a new master key is read with both', async () => {
  const { from, journal, deps } = await peopled()
  await setParticipantStatus(deps, { sender_id, status: 'disabled' })
  const text = await readFile(journal, 'utf8')
  expect(text.length).toBeGreaterThan(0)
  const another = masterKeys(randomBytes(32).toString('base64'))
  const file = await backupOf(from)
  await expect(
    restoreDatabase(acting({ ...depsOf(await target()), masterKeys: another }), { file, journal: [journal] }),
  ).rejects.toThrow(/^the backup was made under another master key/)
})

test('a journal that cannot be written lets nothing be done', async () => {
  const { from, deps } = await peopled()
  const broken = depsOf(from, join(await folder(), 'not', 'there'))
  await expect(setParticipantStatus(broken, { sender_id, status: 'disabled' })).rejects.toThrow(
    /^the journal .* cannot be written \(ENOENT\), and nothing is done without it: see ROLLCALL_JOURNAL/,
  )
  expect(await rowsOf(from, 'select status from participant')).toEqual([{ status: 'active' }])
  expect(deps.db.journal.path).not.toBeNull()
})

test('the audit log verifies, and says from when until when entries are lost; the witness finds nothing else', async () => {
  const { from, deps, file } = await peopled()
  await audited(deps, '3')
  const witnessed = async (place: Place, lines: readonly string[]) =>
    verifyAuditLog({
      db: place.db,
      vault: await deps.vault(),
      witness: (async function* () {
        yield* lines
      })(),
    })
  // A process that lived through the backup, and one that began behind it.
  const late = depsOf(from)
  await audited(late, '4')
  await (late.auditLog as unknown as { close(): Promise<void> }).close()
  await (deps.auditLog as unknown as { close(): Promise<void> }).close()
  const lines = await witnessOf({ ...from, close: async () => undefined })
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  const { report } = await witnessed(into, lines)
  expect(report.faults).toEqual([])
  const [gap] = report.restores
  expect(gap).toMatchObject({ reason: 'the disk is lost', journal: null, backup: expect.any(String) })
  expect(gap?.witnessed).toBeGreaterThanOrEqual(2)
  expect(gap?.open.length).toBeGreaterThan(0)

  // Any other checkpoint than that of the signed entry is a fault: an older one, and one behind the restore.
  const move = (line: string, at: string) => line.replace(/"at":"[^"]+"/, `"at":"${at}"`).replace(/"digest":"../, '"digest":"00')
  const [last = ''] = lines.slice(-1)
  for (const at of ['2020-01-01T00:00:00.000Z', '2999-01-01T00:00:00.000Z']) {
    const found = await witnessed(into, [move(last, at)])
    expect(found.report.faults.map(({ kind }) => kind)).toEqual(['witness_missing'])
  }
  // An entry that is removed from what was restored is found as ever.
  await into.ownerDb.pool.query('delete from account where sequence = 1')
  expect((await witnessed(into, [])).report.faultCount).toBeGreaterThan(0)
})

test('what would be sent is counted, held, and released or cancelled by participant', async () => {
  const { from, file } = await peopled()
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  expect(await areMessagesHeldByRestore(into.db)).toBe(true)
  await into.ownerDb.pool.query(
    `update subscription set participant = (select id from participant);
     update mailbox set participant = (select id from participant)`,
  )
  const dry = await releaseRestored(acting(depsOf(into)), { dry_run: true, cancel: [sender_id] })
  expect(dry).toMatchObject({
    dry_run: true,
    participants: [{ participant: sender_id, notifications: expect.any(Number), cancelled: true }],
  })
  expect(await areMessagesHeldByRestore(into.db)).toBe(true)
  await releaseRestored(acting(depsOf(into)), { cancel: [sender_id] })
  expect(await areMessagesHeldByRestore(into.db)).toBe(false)
  expect(await rowsOf(into, 'select distinct state from notification')).toEqual([{ state: 'dropped' }])
  await expect(releaseRestored(acting(depsOf(into)), {})).rejects.toThrow(
    'nothing is held: the database was not restored, or was released before',
  )
  await expect(releaseRestored(acting(depsOf(from)), {})).rejects.toThrow('nothing is held')
})

test('a database that was restored by other means is adopted: the journal is applied from where it was', async () => {
  const { from, journal, deps, file } = await peopled()
  await setParticipantStatus(deps, { sender_id, status: 'disabled' })
  // As point-in-time recovery leaves it: an earlier state, and no mark that it is one.
  const into = await target()
  await restoreDatabase(acting(depsOf(into)), { file, ...without })
  await into.ownerDb.pool.query('delete from restoration')
  expect(await areMessagesHeldByRestore(into.db)).toBe(false)
  const done = await adoptRestored(acting(depsOf(into)), { journal: [journal] })
  expect(done).toMatchObject({ journal: 1 })
  expect(await rowsOf(into, 'select status from participant')).toEqual([{ status: 'disabled' }])
  expect(await areMessagesHeldByRestore(into.db)).toBe(true)
  // The journal goes on behind its last line, in a new file.
  const next = join(await folder(), 'journal')
  await setParticipantStatus(depsOf(into, next), { sender_id, status: 'disabled' })
  await expect(adoptRestored(acting(depsOf(into)), { journal: [journal, next] })).resolves.toMatchObject({ journal: 0 })
  expect(from.civil.namespace).toBe('civil')
})
