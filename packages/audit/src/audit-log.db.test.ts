import { createHash, randomUUID } from 'node:crypto'
import { openDatabase } from '@rollcall/database/database'
import { StoreBusy } from '@rollcall/database/database-errors'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { query } from '../../database/test/statement.ts'
import { holdTable, lockWaits } from '../../keys/test/held-table.ts'
import { startedDatabase, type TestDatabase } from '../../keys/test/postgres.ts'
import { storedEntries, testAuditLog, vaultOf } from '../../settings/test/audit-log.ts'
import { places } from '../../settings/test/tampering.ts'
import { auditEntry } from '../test/audit-entry.ts'
import { decryptConfidentialDetails } from './confidential.ts'
import { loadAuditKeys } from './keys.ts'
import { findEntryHash, type HashedEntry, readHashedEntries } from './store/evidence.ts'
import { personRowsSql } from './store/packed-persons.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await startedDatabase()
})
afterAll(() => database.close())

const auditLog = () => testAuditLog(database.db)

const MINA = { type: 'UIN', value: '1234' }
const OMAR = { type: 'UIN', value: '5678' }

const sha256 = (...parts: (string | Buffer)[]): string =>
  parts.reduce((sum, part) => sum.update(part), createHash('sha256')).digest('hex')

const bytesOf = async (sequence: number, chain: string) => {
  const [entry] = await readHashedEntries(database.db, { chain, sequence }, sequence)
  return { ...(entry as HashedEntry), hash: await findEntryHash(database.db, { chain, sequence }) }
}

describe('an entry', () => {
  test('is hashed with all entries before it, its time and its commitments', async () => {
    const writer = auditLog()
    await writer.write(auditEntry({ operation: 'one' }), [{ role: 'seen', identifiers: [MINA] }])
    await writer.write(auditEntry({ operation: 'two' }), [])
    const [first, second] = await storedEntries(database.db)
    expect(first?.sequence).toBe(1)
    expect(second).toMatchObject({ chain: first?.chain, sequence: 2, persons: [] })
    const chain = first?.chain as string
    let previous = sha256(chain)
    for (const sequence of [1, 2]) {
      const { at, entry, commitments, hash } = await bytesOf(sequence, chain)
      previous = sha256(
        `${previous}{"at":"${at}","chain":"${chain}","commitments":"${commitments}","entry":${entry},"sequence":${sequence}}`,
      )
      expect(hash).toBe(previous)
    }
  })

  test('has the time of the database', async () => {
    await auditLog().write(auditEntry({ operation: 'timed' }), [])
    const {
      rows: [row],
    } = await database.db.pool.query(
      `select at between now() - interval '1 minute' and now() as now from account where entry like '%"timed"%'`,
    )
    expect(row).toEqual({ now: true })
  })

  test('has the commitment of each identifier once, and a person the same pseudonym in every entry', async () => {
    const writer = auditLog()
    await writer.write(auditEntry({ operation: 'persons' }), [
      { role: 'asked', identifiers: [MINA] },
      { role: 'seen', identifiers: [MINA, OMAR] },
      { role: 'seen', identifiers: [MINA] },
    ])
    await writer.write(auditEntry({ operation: 'persons', registry: 'social' }), [{ role: 'seen', identifiers: [OMAR] }])
    const [first, second] = (await storedEntries(database.db)).filter(({ entry }) => entry.operation === 'persons')
    expect(first?.persons.map(({ role }) => role)).toEqual(['asked', 'seen', 'seen'])
    expect(first?.persons[0]?.pseudonym).toBe(first?.persons[1]?.pseudonym)
    expect(second?.persons[0]?.pseudonym).toBe(first?.persons[2]?.pseudonym)
    const { rows } = await database.db.pool.query(
      `select salt, pseudonym, role from ${personRowsSql()} as person where chain = $1 and sequence = $2 order by position`,
      [first?.chain, first?.sequence],
    )
    const commitments = rows.map(({ salt, pseudonym, role }) => sha256(salt, pseudonym, role))
    expect((await bytesOf(1, first?.chain as string)).commitments).toBe(commitments.join(''))
    expect(new Set(commitments).size).toBe(3)
  })

  test('holds no identifier, and its confidential details open in their place only', async () => {
    await auditLog().write(auditEntry({ operation: 'secret', confidential: { requested_by: 'clerk-77', case: 'C/9' } }), [
      { role: 'seen', identifiers: [{ type: 'UIN', value: 'ID-IN-CLEAR' }] },
    ])
    const { rows } = await database.db.pool.query(`select account::text as text from account where entry like '%"secret"%'`)
    for (const clear of ['clerk-77', 'C/9', 'ID-IN-CLEAR']) expect(rows[0].text).not.toContain(clear)
    const stored = (await storedEntries(database.db)).find(({ entry }) => entry.operation === 'secret')
    const { confidential } = await loadAuditKeys(database.db, await vaultOf(database.db))
    const place = { chain: stored?.chain as string, sequence: stored?.sequence as number }
    const sealed = stored?.entry.sealed as string
    expect(decryptConfidentialDetails(confidential, place, sealed)).toEqual({ requested_by: 'clerk-77', case: 'C/9' })
    expect(decryptConfidentialDetails(confidential, { ...place, sequence: place.sequence + 1 }, sealed)).toBeNull()
  })

  test('is found by the messages of both sides, but not by a text that the database cannot hold', async () => {
    const message = (message_id: string) => ({ message_id, digest: 'd', kid: null, signature: null })
    const writer = auditLog()
    await writer.write(auditEntry({ request: message('theirs-1'), reply: message('ours-1') }), [])
    await writer.write(auditEntry({ request: message('odd-one\0') }), [])
    const { rows } = await database.db.pool.query(
      `select message_id, reply_message_id from account where entry like '%theirs-1%' or entry like '%odd-one%'
        order by sequence`,
    )
    expect(rows).toEqual([
      { message_id: 'theirs-1', reply_message_id: 'ours-1' },
      { message_id: null, reply_message_id: null },
    ])
  })
})

describe('the shape of entries', () => {
  test('has the digest of its content: nobody takes the place of one that is to come', async () => {
    await expect(
      database.db.pool.query(`insert into account_shape (digest, content) values (sha256('to come'), '{"operation":"another"}')`),
    ).rejects.toMatchObject({ code: '23514', constraint: 'account_shape_digest_check' })
  })

  const stored = async (operation: string) => {
    const { rows } = await database.db.pool.query<{ content: string; entry: string }>(
      'select account.entry, account_shape.content from account left join account_shape on digest = shape order by at, sequence',
    )
    return rows.filter(({ content, entry }) => `${content}${entry}`.includes(`"${operation}"`))
  }
  const message = (id: string) => ({
    message_id: id,
    digest: sha256(id),
    kid: 'kid-1',
    signature: `Signature: created="1606970629", signature="${Buffer.alloc(64, id).toString('base64')}"`,
  })

  test('is stored once, from the second entry on that has it, and gives back every text', async () => {
    const writer = auditLog()
    const ids = ['m-1', 'm-2', 'm-3', '"ü\u2028\\', 'x'.repeat(200)]
    const entries = ids.map((id) =>
      auditEntry({
        operation: 'shared',
        transaction_id: id,
        correlation_id: randomUUID(),
        consent: { form: 'signed', jti: id, authority: 'a' },
        request: message(id),
        reply: message(`r-${id}`),
      }),
    )
    for (const entry of entries) await writer.write(entry, [])
    expect((await storedEntries(database.db)).flatMap(({ entry }) => (entry.operation === 'shared' ? [entry] : []))).toEqual(
      entries,
    )
    const [first, ...others] = await stored('shared')
    expect(first).toMatchObject({ content: null, entry: expect.stringContaining('shared') })
    expect(others).toHaveLength(4)
    expect(new Set(others.map(({ content }) => content)).size).toBe(1)
    for (const { content } of others) for (const id of [...ids, sha256('m-1')]) expect(content).not.toContain(id)
    expect(() => JSON.parse(others[0]?.content ?? '')).not.toThrow()
  })

  test('is none of what an operator has done', async () => {
    const writer = auditLog()
    for (let times = 0; times < 3; times += 1)
      await writer.write(auditEntry({ operation: 'looked', kind: 'operator', operator: 'auditor' }), [])
    expect((await stored('looked')).map(({ content }) => content)).toEqual([null, null, null])
  })

  test('is written by two processes at once, in any order, and no entry fails', async () => {
    const processes = [auditLog(), auditLog()]
    const numbers = Array.from({ length: 40 }, (_, number) => number)
    await Promise.all(
      processes.flatMap((writer, process) =>
        [...numbers, ...numbers].map((number) =>
          writer.write(auditEntry({ operation: 'raced', records: process === 0 ? number : 39 - number }), []),
        ),
      ),
    )
    expect(processes.flatMap(({ counted }) => counted.filter((line) => line.includes('failed')))).toEqual([])
    const shapes = (await stored('raced')).flatMap(({ content }) => content ?? [])
    expect(shapes).toHaveLength(80)
    expect(new Set(shapes).size).toBe(40)
  })

  test('that another database has lost is written again: an entry never refers to one that is not there', async () => {
    const writer = auditLog()
    const write = () => writer.write(auditEntry({ operation: 'lost shape' }), [])
    await write()
    await write()
    await query(database.owner, `delete from account_entry where shape is not null and entry = ''`)
    await query(database.owner, 'delete from account_shape')
    await write()
    expect((await stored('lost shape')).map(({ content }) => content !== null)).toEqual([false, true])
  })
})

test('entries that come at a time share commits, in one chain without gaps', async () => {
  const writer = auditLog()
  await Promise.all(
    Array.from({ length: 300 }, (_, index) =>
      writer.write(auditEntry({ operation: 'many', records: index }), [{ role: 'seen', identifiers: [MINA] }]),
    ),
  )
  const written = (await storedEntries(database.db)).filter(({ entry }) => entry.operation === 'many')
  expect(new Set(written.map(({ chain }) => chain)).size).toBe(1)
  expect(written.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 300 }, (_, index) => index + 1))
  const { rows } = await database.db.pool.query(
    'select count(distinct xmin::text)::integer as commits from account where chain = $1',
    [written[0]?.chain],
  )
  expect(rows[0].commits).toBeLessThan(10)
})

test('after a failure the write rejects, and another chain begins', async () => {
  const writer = auditLog()
  await writer.write(auditEntry({ operation: 'before' }), [])
  await query(database.owner, 'alter table account_entry rename to account_away')
  await expect(writer.write(auditEntry({ operation: 'lost' }), [])).rejects.toThrow('account')
  await query(database.owner, 'alter table account_away rename to account_entry')
  await writer.write(auditEntry({ operation: 'after' }), [])
  const found = await storedEntries(database.db)
  const of = (operation: string) => found.filter(({ entry }) => entry.operation === operation)
  expect(of('lost')).toEqual([])
  expect(of('after')).toMatchObject([{ sequence: 1 }])
  expect(of('after')[0]?.chain).not.toBe(of('before')[0]?.chain)
})

test('an end that comes while an entry is written waits for it, and refuses what comes later', async () => {
  const own = await startedDatabase()
  onTestFinished(() => own.close())
  const writer = testAuditLog(own.db)
  await writer.write(auditEntry(), [])
  const owner = openDatabase(own.owner)
  onTestFinished(() => owner.close())
  const locked = await holdTable({ db: owner }, 'account')
  const written = writer.write(auditEntry(), [])
  await expect.poll(() => lockWaits(own)).toBe(1)
  const closing = writer.close()
  await locked.release()
  await Promise.all([written, closing])
  await expect(writer.write(auditEntry(), [])).rejects.toThrow(StoreBusy)
  expect(await places(own)).toEqual([])
  const { rows } = await own.db.pool.query(
    `select (select max(sequence) from account) = max(sequence) as all from account_checkpoint where content::json ->> 'ended' = 'true'`,
  )
  expect(rows).toEqual([{ all: true }])
})

test('a process that begins while another one makes the first keys has the same keys', async () => {
  const { db, owner, close } = await startedDatabase()
  onTestFinished(close)
  const { secrets } = await loadAuditKeys(db, await vaultOf(db))
  const ownDb = openDatabase(owner)
  onTestFinished(() => ownDb.close())
  const { rows } = await ownDb.pool.query('delete from account_key returning kid, kind, public_key, sealed')
  const other = await ownDb.pool.connect()
  onTestFinished(() => other.release())
  await other.query('begin; lock table account in access exclusive mode')
  for (const { kid, kind, public_key, sealed } of rows) {
    const values = [kid, kind, public_key, sealed]
    await other.query('insert into account_key (kid, kind, public_key, sealed) values ($1, $2, $3, $4)', values)
  }
  const loading = loadAuditKeys(db, await vaultOf(db))
  await expect.poll(() => lockWaits({ db })).toBe(1)
  await other.query(
    "insert into account (chain, sequence, at, entry, commitments, hash) values (gen_random_uuid(), 1, now(), '{}', '', $1)",
    [Buffer.alloc(32)],
  )
  await other.query('commit')
  expect((await loading).secrets).toEqual(secrets)
})
