import { createPublicKey, randomUUID, verify } from 'node:crypto'
import { entryHash, firstPreviousHash } from '@rollcall/audit/chain'
import { addParticipant } from '@rollcall/participants/store/participants'
import { canonicalJson } from '@rollcall/protocol'
import { addRegistry } from '@rollcall/records/registries/registries'
import { removeRegistryAndRecords } from '@rollcall/records/registries/removed-registries'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { ENTRIES_WITH_CONTENT_SQL } from '../../../audit/src/store/entry-shape.ts'
import { personRowsSql } from '../../../audit/src/store/packed-persons.ts'
import { auditEntry, testAuditLog } from '../../../settings/test/audit-log.ts'
import { places, tamper } from '../../../settings/test/tampering.ts'
import { acting } from '../../test/acting.ts'
import { type RetentionTest, retentionTest } from '../../test/retention.ts'
import { AdminRefusal } from '../admin-function.ts'
import { pruneAuditLog } from '../audit/prune.ts'
import { erasePerson } from './erase.ts'
import { addHold, listHolds, removeHold } from './holds.ts'
import { protectPerson } from './protected-persons.ts'
import { pruneStoredData, showRetention } from './retention.ts'

let world: RetentionTest
beforeAll(async () => {
  world = await retentionTest()
  await addRegistry(world.database.db, { namespace: 'civil', kind: 'civil', sender_id: 'civil.example' })
  for (const sender_id of ['a.example', 'b.example']) {
    await addParticipant(world.database.db, { sender_id, name: sender_id })
  }
})
afterAll(() => world.close())
beforeEach(async () => {
  await world.rows('truncate account, account_person, account_checkpoint, account_tombstone, hold')
})

const LATER = new Date(Date.now() + 6 * 366 * 86_400_000)
const uin = (value: string) => ({ type: 'UIN', value })
const asked = (value: string) => [{ role: 'asked' as const, identifiers: [uin(value)] }]

/** A process that writes these entries, and ends in good order: a checkpoint closes its chain. */
async function chainOf(...entries: readonly { participant?: string; person?: string }[]): Promise<void> {
  const auditLog = testAuditLog(world.database.db)
  for (const { participant = 'a.example', person } of entries) {
    await auditLog.write(auditEntry({ participant }), person === undefined ? [] : asked(person))
  }
  await auditLog.close()
}

const participants = async () =>
  (await world.rows(`select content::json ->> 'participant' as p from ${ENTRIES_WITH_CONTENT_SQL} order by chain, sequence`)).map(
    ({ p }) => p,
  )
const tombstones = async () =>
  (await world.rows('select content, kid, signature from account_tombstone order by id')).map(({ content, kid, signature }) => ({
    content: JSON.parse(String(content)),
    text: content,
    kid,
    signature,
  }))

async function isSigned(tombstone: Awaited<ReturnType<typeof tombstones>>[number] | undefined): Promise<boolean> {
  const [key] = await world.rows('select public_key from account_key where kid = $1', tombstone?.kid)
  const publicKey = createPublicKey({ key: key?.public_key as { kty: string }, format: 'jwk' })
  return verify(null, Buffer.from(String(tombstone?.text)), publicKey, tombstone?.signature as Buffer)
}

/** Entries of two years ago, of a process that was killed before it signed them. */
async function killedChain({ rows }: RetentionTest, entries: number): Promise<void> {
  const chain = randomUUID()
  const at = new Date(Date.now() - 2 * 366 * 86_400_000).toISOString()
  let hash = firstPreviousHash(chain)
  for (let sequence = 1; sequence <= entries; sequence += 1) {
    const entry = canonicalJson(auditEntry())
    hash = entryHash(hash, { chain, sequence, at, entry, commitments: Buffer.alloc(0) })
    await rows(
      `insert into account (chain, sequence, at, entry, commitments, hash) values ($1, $2, $3, $4, '', $5)`,
      ...[chain, sequence, at, entry, hash],
    )
  }
}

describe('prune of the audit log', () => {
  test('whole months that a checkpoint closes are deleted, and a signed tombstone says so', async () => {
    await chainOf({ person: '1' }, { person: '2' }, {})
    const [last] = await world.rows(`select chain, encode(hash, 'hex') as hash from account order by sequence desc limit 1`)
    const dry = await pruneStoredData(acting(world.deps(LATER)), { dry_run: true })
    expect(dry).toMatchObject({ dry_run: true, accounts: { deleted: 3, held: 0 } })
    expect(await participants()).toHaveLength(4)

    expect((await pruneStoredData(acting(world.deps(LATER)), {})).accounts).toMatchObject({ deleted: 3 })
    expect(await world.rows(`select from ${personRowsSql()} as person`)).toEqual([])
    // Two entries are left: that of the prune, and that of its dry run.
    expect(await participants()).toEqual([null, null])
    const [tombstone] = await tombstones()
    expect(tombstone?.content).toMatchObject({
      kind: 'prune',
      reason: expect.stringMatching(/^older than its retention: before \d{4}-\d{2}-01T00:00:00/),
      pruned: [{ chain: last?.chain, sequence: 3, hash: last?.hash }],
    })
    expect(await isSigned(tombstone)).toBe(true)
    expect((await world.rows('select from account_checkpoint')).length).toBeGreaterThan(0)
  })

  test('audit verify finds nothing wrong after it, and what is altered after it', async () => {
    const other = await retentionTest()
    try {
      const { db } = other.database
      for (const count of [5, 3]) {
        const auditLog = testAuditLog(db)
        for (let entry = 0; entry < count; entry += 1) await auditLog.write(auditEntry(), asked(`${entry}`))
        await auditLog.close()
      }
      const pruned = await pruneStoredData(acting(other.deps(LATER)), {})
      expect(pruned.accounts).toMatchObject({ deleted: 8 })
      expect(await places(other.database)).toEqual([])

      const auditLog = testAuditLog(db)
      for (const person of ['1', '2', '3']) await auditLog.write(auditEntry(), asked(person))
      await auditLog.close()
      expect(await places(other.database)).toEqual([])
      await tamper(other.database, `update account set at = at - interval '1 second' where sequence = 2`)
      expect(await places(other.database)).toEqual([expect.stringMatching(/^entry_changed \S+ 2/)])
      // Without its tombstone the prune itself is a removal.
      await tamper(other.database, 'delete from account_tombstone')
      expect((await places(other.database)).length).toBeGreaterThan(1)
    } finally {
      await other.close()
    }
  })

  test('what is younger stays', async () => {
    await chainOf({}, {})
    await pruneStoredData(acting(world.deps()), {})
    expect(await participants()).toHaveLength(3)
    expect(await tombstones()).toEqual([])
  })

  test('the end of a chain whose process was killed is closed by a checkpoint, and deleted', async () => {
    const other = await retentionTest()
    try {
      // The keys of the audit log are there.
      await other.auditLog.write(auditEntry(), [])
      await killedChain(other, 3)
      const dry = await pruneStoredData(acting(other.deps(LATER)), { dry_run: true })
      expect(dry.accounts).toMatchObject({ deleted: 3 })
      expect((await pruneStoredData(acting(other.deps(LATER)), {})).accounts).toMatchObject({ deleted: 3 })
      const closed = `select sequence, content::json ->> 'ended' as ended from account_checkpoint order by id desc limit 1`
      expect(await other.rows(closed)).toEqual([{ sequence: 3, ended: 'true' }])
      expect(await places(other.database)).toEqual([])
    } finally {
      await other.close()
    }
  })

  test('it goes on in chunks that checkpoints close, and where it was stopped', async () => {
    const other = await retentionTest()
    const { db } = other.database
    await addParticipant(db, { sender_id: 'b.example', name: 'b.example' })
    try {
      const writer = testAuditLog(db, { limits: { checkpoint_entries: 4 } })
      for (let entry = 1; entry <= 12; entry += 1) {
        await writer.write(auditEntry({ participant: entry === 11 ? 'b.example' : 'a.example' }), [])
        if (entry % 4 === 0)
          await expect
            .poll(async () => (await other.rows('select from account_checkpoint where sequence = $1', entry)).length)
            .toBe(1)
      }
      await writer.close()
      const hold = await addHold(acting(other.deps()), { participant: 'b.example', reason: 'case 3/2026' })
      const deps = { ...other.deps(LATER), dryRun: false, atOnce: 3 }
      const before = new Date(LATER.getTime() - 366 * 86_400_000)
      expect(await pruneAuditLog({ ...deps, dryRun: true }, before)).toEqual({ deleted: 10, held: 1 })
      expect(await pruneAuditLog(deps, before)).toEqual({ deleted: 10, held: 1 })
      await removeHold(acting(other.deps()), { id: hold.id })
      expect(await pruneAuditLog(deps, before)).toMatchObject({ deleted: 2, held: 0 })
      expect(await places(other.database)).toEqual([])
    } finally {
      await other.close()
    }
  })

  test('a hold of a person, of a participant or of a period stops it at the first entry that is covered', async () => {
    await chainOf({ participant: 'b.example' }, { person: '7' }, {})
    const reason = 'case 7/2026'
    const year = { from: '2000-01-01T00:00:00Z', until: '2100-01-01T00:00:00Z' }
    const holds = [
      [{ person: { type: 'UIN', value: '7' }, reason }, 1],
      [{ participant: 'a.example', reason }, 1],
      [{ ...year, reason }, 0],
    ] as const
    for (const [hold, deleted] of holds) {
      const { id } = await addHold(acting(world.deps()), hold)
      const dry = await pruneStoredData(acting(world.deps(LATER)), { dry_run: true })
      expect(dry.accounts).toMatchObject({ deleted, held: 1 })
      await removeHold(acting(world.deps()), { id })
    }
    const { id } = await addHold(acting(world.deps()), { person: { type: 'UIN', value: '7' }, reason })
    expect((await pruneStoredData(acting(world.deps(LATER)), {})).accounts).toMatchObject({ deleted: 1, held: 1 })
    expect(await participants()).toEqual(expect.arrayContaining(['a.example', 'a.example']))
    expect(await world.rows(`select from hold where pseudonyms is not null and id = ${id}`)).toHaveLength(1)
    await removeHold(acting(world.deps()), { id })
    expect((await pruneStoredData(acting(world.deps(LATER)), {})).accounts).toMatchObject({ deleted: 2, held: 0 })
  })

  test('rows that the role of servers inserts have nothing deleted', async () => {
    await chainOf({}, {})
    const [{ chain } = {}] = await world.rows('select chain from account limit 1')
    const { pool } = world.database.db
    await pool.query(
      `insert into account (chain, sequence, at, entry, commitments, hash)
        values ($1, 1000000, '2001-01-01', '{}', '', $2)`,
      [chain, Buffer.alloc(32)],
    )
    await pool.query(
      `insert into account_checkpoint (chain, sequence, hash, at, content, digest, kid, signature)
        values ($1, 1000000, '', '2001-01-01', '', 'x', 'k', '')`,
      [chain],
    )
    expect((await pruneStoredData(acting(world.deps()), {})).accounts).toMatchObject({ deleted: 0 })
    await expect(pruneStoredData(acting(world.deps(LATER)), {})).rejects.toThrow(`chain ${chain} has faults`)
    expect((await world.rows('select from account where chain = $1', chain)).length).toBe(3)
    expect(await tombstones()).toEqual([])
  })

  test('a hold that is added while it runs is seen', async () => {
    await chainOf({}, {}, {})
    const deps = world.deps(LATER)
    let asked = 0
    const vault = async () => {
      // The second time is behind the look for what may be deleted.
      asked += 1
      if (asked === 2)
        await addHold(acting(world.deps()), {
          from: '2000-01-01T00:00:00Z',
          until: '2100-01-01T00:00:00Z',
          reason: 'case 9/2026',
        })
      return deps.vault()
    }
    expect((await pruneStoredData(acting({ ...deps, vault }), {})).accounts).toMatchObject({ deleted: 0 })
    expect(asked).toBe(2)
    expect(await tombstones()).toEqual([])
  })

  test('only the owner may', async () => {
    const { db } = world.database
    await expect(pruneStoredData(acting({ ...world.deps(), owner: db }), {})).rejects.toThrow(
      new AdminRefusal('the audit log belongs to another role: set ROLLCALL_OWNER_DATABASE_URL (docs/roles.md)'),
    )
    await expect(erasePerson(acting({ ...world.deps(), owner: db }), { type: 'UIN', value: '1', reason: 'x' })).rejects.toThrow(
      'the audit log belongs to another role',
    )
  })
})

describe('prune of stored messages', () => {
  const bodyKey = (day: string) =>
    world.rows(`insert into body_key (day, sealed) select $1::date, set_byte('x', 0, max(version)) from master_key`, day)
  const days = async () => (await world.rows('select day::text from body_key order by day')).map(({ day }) => day)
  const daysAgo = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString().slice(0, 10)

  test('keys of days are destroyed after everything that was stored with them', async () => {
    await world.rows('delete from body_key')
    for (const age of [0, 29, 30, 31, 400]) await bodyKey(daysAgo(age))
    const dry = await pruneStoredData(acting(world.deps()), { dry_run: true })
    expect(dry.stored).toContainEqual({ name: 'body_keys', deleted: 2 })
    await pruneStoredData(acting(world.deps()), {})
    expect(await days()).toEqual([30, 29, 0].map(daysAgo))
  })

  test('a hold of a participant or a period keeps rows and keys', async () => {
    await world.rows('delete from body_key')
    await bodyKey(daysAgo(400))
    await world.rows(
      `insert into exchange (participant, message_id, fingerprint, correlation_id, registry, operation, received_at)
        select id, sender_id, sha256('x'), gen_random_uuid(), 1, 'search', now() - interval '400 days'
        from participant`,
    )
    const senders = async () => (await world.rows('select message_id as m from exchange order by m')).map(({ m }) => m)
    const reason = 'case 8/2026'
    const hold = await addHold(acting(world.deps()), { participant: 'a.example', reason })
    const counts = [
      { name: 'exchanges', deleted: 1 },
      { name: 'body_keys', deleted: 0 },
    ]
    expect((await pruneStoredData(acting(world.deps()), { dry_run: true })).stored).toEqual(expect.arrayContaining(counts))
    expect((await pruneStoredData(acting(world.deps()), {})).stored).toEqual(expect.arrayContaining(counts))
    expect(await senders()).toEqual(['a.example'])
    await removeHold(acting(world.deps()), { id: hold.id })

    const [from, until] = [`${daysAgo(401)}T00:00:00Z`, `${daysAgo(399)}T00:00:00Z`]
    const period = await addHold(acting(world.deps()), { from, until, reason })
    await pruneStoredData(acting(world.deps()), {})
    expect([await senders(), await days()]).toEqual([['a.example'], [daysAgo(400)]])
    await removeHold(acting(world.deps()), { id: period.id })
    await pruneStoredData(acting(world.deps()), {})
    expect([await senders(), await days()]).toEqual([[], []])
  })

  test('every age has its variables', async () => {
    const ages = await showRetention(world.deps(), {})
    expect(ages.find(({ name }) => name === 'body_keys')).toMatchObject({ seconds: 30 * 86_400 })
    expect(ages.find(({ name }) => name === 'accounts')).toMatchObject({
      seconds: 1_826 * 86_400,
      variables: ['ROLLCALL_ACCOUNT_RETENTION'],
    })
  })
})

describe('holds', () => {
  const reason = 'x'
  test.each([
    [{ reason }, 'give one of: person; participant; from and until'],
    [{ reason, participant: 'a.example', from: '2026-01-01T00:00:00Z' }, 'give one of: person; participant'],
    [{ reason, participant: 'no.example' }, 'no participant has sender_id no.example'],
    [{ reason, from: '2026-01-01T00:00:00Z' }, 'until: a period needs from and until, and from must be earlier'],
    [
      { reason, from: '2026-01-02T00:00:00Z', until: '2026-01-01T00:00:00Z' },
      'until: a period needs from and until, and from must be earlier',
    ],
    [{ reason: '', participant: 'a.example' }, 'reason: must not be empty'],
    [{ reason, person: { type: 'NOPE', value: '1' } }, 'type: no registry has identifiers of this type'],
  ])('%j is refused', async (input, message) => {
    await expect(addHold(acting(world.deps()), input)).rejects.toThrow(message)
  })

  test('they are listed without the person, and one that is not there is refused', async () => {
    const { id } = await addHold(acting(world.deps()), { person: { type: 'UIN', value: '12345' }, reason: 'case 9' })
    const listed = await listHolds(acting(world.deps()), {})
    expect(listed).toMatchObject([{ id, kind: 'person', reason: 'case 9', created_by: 'tester' }])
    expect(JSON.stringify([listed, await world.rows('select hold::text from hold')])).not.toContain('12345')
    await removeHold(acting(world.deps()), { id })
    await pruneStoredData(acting(world.deps()), {})
    expect(await world.rows('select pseudonyms from hold where id = $1', id)).toEqual([{ pseudonyms: [] }])
    expect(await listHolds(acting(world.deps()), {})).toEqual([])
    await expect(removeHold(acting(world.deps()), { id })).rejects.toThrow(`there is no hold ${id} in force`)
    const above = removeHold(acting(world.deps()), { id: 3_000_000_000 })
    await expect(above).rejects.toThrow('there is no hold 3000000000 in force')
    await erasePerson(acting(world.deps()), { type: 'UIN', value: '12345', reason: 'order 1' })
    expect(await world.rows('select pseudonyms from hold where id = $1', id)).toEqual([{ pseudonyms: [] }])
  })
})

test('a registry that waits for its first copies stops neither erasing nor protecting; one that has answered must have them', async () => {
  const { db } = world.database
  const copied = { namespace: 'copied', kind: 'civil', sender_id: 'copied.example', source: { way: 'mirror' } }
  const { id } = await addRegistry(db, copied)
  try {
    await chainOf({ person: '777' })
    const erase = () => erasePerson(acting(world.deps()), { ...uin('777'), reason: 'order 2' })
    expect(await erase()).toMatchObject({ accounts: { rows: 1 }, records: [] })
    const person = { namespace: 'copied', identifier_type: 'UIN', identifier_value: '777' }
    const given = { ...person, category: 'shelter' as const, reason: 'order 3' }
    expect(await protectPerson(acting(world.deps()), given)).toMatchObject({ records: 0 })
    await world.rows('insert into source_mirror (registry, was_live) values ($1, true)', id)
    await expect(erase()).rejects.toThrow(
      'the records of copied are being copied; try again when rollcall source status copied says that it answers',
    )
  } finally {
    await removeRegistryAndRecords(db, id)
  }
})
