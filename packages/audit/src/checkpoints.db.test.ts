import { createHash, createPublicKey, verify } from 'node:crypto'
import { expect, onTestFinished, test, vi } from 'vitest'
import { countRowsRead } from '../../database/test/rows-read.ts'
import { query } from '../../database/test/statement.ts'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { testAuditLog } from '../../settings/test/audit-log.ts'
import { auditEntry } from '../test/audit-entry.ts'
import { insertCheckpoints } from '../test/checkpoints.ts'
import type { CheckpointContent } from './checkpoints.ts'
import { countUnwitnessedChains } from './store/checkpoints.ts'

interface Stored {
  readonly chain: string
  readonly sequence: number
  readonly hash: string
  readonly content: string
  readonly parsed: CheckpointContent
  readonly digest: string
  readonly kid: string
  readonly signature: Buffer
}

async function database(): Promise<TestDatabase> {
  const made = await startedDatabase()
  onTestFinished(() => made.close())
  return made
}

const stored = async ({ db }: TestDatabase): Promise<Stored[]> =>
  (
    await db.pool.query(
      `select chain, sequence, encode(hash, 'hex') as hash, content, content::json as parsed,
        encode(digest, 'hex') as digest, kid, signature from account_checkpoint order by id`,
    )
  ).rows

const hashOf = async ({ db }: TestDatabase, chain: string, sequence: number): Promise<string> =>
  (await db.pool.query(`select encode(hash, 'hex') as hash from account where chain = $1 and sequence = $2`, [chain, sequence]))
    .rows[0].hash

test('an orderly end signs the last entry, with a key whose public half stays', async () => {
  const on = await database()
  const auditLog = testAuditLog(on.db)
  for (const operation of ['one', 'two']) await auditLog.write(auditEntry({ operation }), [])
  await auditLog.close()
  const [checkpoint, ...more] = await stored(on)
  expect(more).toEqual([])
  const { chain, content, parsed, kid, signature, digest } = checkpoint as Stored
  expect(parsed).toMatchObject({ sequence: 2, hash: await hashOf(on, chain, 2), previous: null, others: [] })
  expect(parsed).toMatchObject({ ended: true, witness: 'none' })
  expect(digest).toBe(createHash('sha256').update(content).digest('hex'))
  const { rows } = await on.db.pool.query('select public_key from account_key where kid = $1', [kid])
  const key = createPublicKey({ key: rows[0].public_key, format: 'jwk' })
  expect(verify(null, Buffer.from(content), key, signature)).toBe(true)
})

test('a process that wrote nothing makes no checkpoint', async () => {
  const on = await database()
  await testAuditLog(on.db).close()
  expect(await stored(on)).toEqual([])
})

test('entries are signed when their time has come, without a further entry', async () => {
  const on = await database()
  const auditLog = testAuditLog(on.db, { limits: { checkpoint_interval: 10 } })
  await auditLog.write(auditEntry(), [])
  await auditLog.write(auditEntry(), [])
  expect(await stored(on)).toEqual([])
  auditLog.clock.pass(10_000)
  await vi.waitFor(async () => expect(await stored(on)).toMatchObject([{ sequence: 2 }]), 60_000)
  // All is signed: there is nothing to do.
  auditLog.clock.pass(60_000)
  await auditLog.write(auditEntry(), [])
  auditLog.clock.pass(10_000)
  await vi.waitFor(async () => expect(await stored(on)).toHaveLength(2), 60_000)
  const [first, second] = await stored(on)
  expect(second?.parsed).toMatchObject({ sequence: 3, previous: first?.digest, ended: false })
  await auditLog.close()
})

test('many entries are signed at once', async () => {
  const on = await database()
  const auditLog = testAuditLog(on.db, { limits: { checkpoint_entries: 5 } })
  for (let written = 0; written < 5; written += 1) await auditLog.write(auditEntry(), [])
  await vi.waitFor(async () => expect(await stored(on)).toMatchObject([{ sequence: 5 }]), 60_000)
  await auditLog.close()
})

test('checkpoints name the newest of the other chains', async () => {
  const on = await database()
  const [one, other] = [testAuditLog(on.db), testAuditLog(on.db)]
  await one.write(auditEntry(), [])
  await one.close()
  await other.write(auditEntry(), [])
  await other.close()
  const [first, second] = await stored(on)
  expect(second?.parsed.others).toEqual([{ chain: first?.chain, sequence: 1, digest: first?.digest }])
})

test('a checkpoint that cannot be written is written later, and the chain before a failure is signed too', async () => {
  const on = await database()
  const auditLog = testAuditLog(on.db)
  await auditLog.write(auditEntry(), [])
  await query(on.owner, 'alter table account_checkpoint rename to checkpoint_away')
  auditLog.clock.pass(10_000)
  await vi.waitFor(() => expect(auditLog.counted).toContain('checkpoint failed'), 60_000)
  expect(auditLog.logged).toContain('a checkpoint of the audit log could not be made')
  await query(on.owner, 'alter table account_entry rename to account_away')
  await expect(auditLog.write(auditEntry(), [])).rejects.toThrow('account')
  await query(on.owner, 'alter table account_away rename to account_entry')
  await query(on.owner, 'alter table checkpoint_away rename to account_checkpoint')
  await auditLog.write(auditEntry(), [])
  await auditLog.close()
  const found = await stored(on)
  expect(found.map(({ sequence, parsed: { ended } }) => ({ sequence, ended }))).toEqual([
    { sequence: 1, ended: false },
    { sequence: 1, ended: true },
  ])
  expect(found[0]?.chain).not.toBe(found[1]?.chain)
})

test('what no witness has is counted by few look-ups, however many checkpoints there are', async () => {
  const on = await database()
  const [failing, good] = [1, 2].map((number) => `00000000-0000-4000-8000-00000000000${number}`) as [string, string]
  await insertCheckpoints(on.owner, { chain: good, from: 1, to: 3_000 }, { witness: 'good' })
  await insertCheckpoints(on.owner, { chain: failing, from: 1, to: 3_000 }, { witness: 'good' })
  await query(on.owner, `update account_checkpoint set at = now() - interval '2 days' where sequence < 3000`)
  await insertCheckpoints(on.owner, { chain: failing, from: 3_001, to: 3_005 }, { witness: 'failed' })
  await query(on.owner, 'analyze account_checkpoint')
  const run = vi.spyOn(on.db.pool, 'query')
  // The newest one that says `good` says it of those before it.
  expect(await countUnwitnessedChains(on.db)).toEqual({ unwitnessed: 1, unwitnessedEntries: 6 })
  const statement = String(run.mock.calls[0]?.[0])
  run.mockRestore()
  expect(await countRowsRead(on.db.pool, statement)).toBeLessThan(100)
})
