/** Every kind of tampering is found, and named. */
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import { testAuditLog, vaultOf } from '../../../settings/test/audit-log.ts'
import {
  AT,
  bury,
  chains,
  database,
  dropPerson,
  erase,
  places,
  prune,
  review,
  tamper,
  twoChains,
  verified,
  witnessOf,
  writeChain,
} from '../../../settings/test/tampering.ts'
import { auditEntry } from '../../test/audit-entry.ts'
import { newReport } from './report.ts'
import { verifyAuditLog } from './verify.ts'

const entry = (chain: string, sequence: number): string => `chain = '${chain}' and sequence = ${sequence}`

describe('a healthy audit log', () => {
  test.each([false, true])('verify; of the version before: %s', async (before) => {
    const { on } = await twoChains({ before })
    const { report, keys } = await verified(on)
    expect(report.faults).toEqual([])
    expect(report.counts).toMatchObject({ chains: 2, entries: 20, persons: 40, checkpoints: 6, tombstones: 0 })
    expect(report.tails).toEqual([])
    expect(keys).toHaveLength(1)
  })

  test('verify while processes write at a time, and after they failed', async () => {
    const on = await database()
    const writers = [1, 2, 3].map(() => testAuditLog(on.db, { limits: { checkpoint_entries: 10 } }))
    const write = (count: number) =>
      Promise.all(writers.flatMap((writer) => Array.from({ length: count }, () => writer.write(auditEntry(), []))))
    await write(30)
    const [during] = await Promise.all([verified(on), write(100)])
    expect(during.report.faults).toEqual([])
    await tamper(on, 'alter table account_entry rename to account_away')
    // All of them have failed before the table is there again.
    await Promise.allSettled(writers.map((writer) => writer.write(auditEntry(), [])))
    await tamper(on, 'alter table account_away rename to account_entry')
    await write(5)
    await Promise.all(writers.map((writer) => writer.close()))
    const { report } = await verified(on)
    expect(report.faults).toEqual([])
    expect(report.counts).toMatchObject({ chains: 6, entries: 3 * 135 })
    expect(report.unsigned).toBe(0)
  })

  test.each([false, true])('verify after an erasure and a prune; of the version before: %s', async (before) => {
    const { on, chain, other } = await twoChains({ before })
    await erase(on, chain, 3, 1)
    await erase(on, chain, 9, 0)
    await prune(on, other, 8)
    const { report } = await verified(on)
    expect(report.faults).toEqual([])
    expect(report.counts).toMatchObject({ entries: 12, pruned: 8, erased: 2, tombstones: 3 })
    await prune(on, chain, 10)
    expect(await places(on)).toEqual([])
  })

  test('verify where there is none, and without a master key', async () => {
    const on = await database()
    expect(await places(on)).toEqual([])
    await writeChain(on, 1)
    const { report } = await verifyAuditLog({ db: on.db, vault: null, witness: null })
    expect(report.faults).toEqual([])
  })

  test('name what a process that was killed left unsigned', async () => {
    const on = await database()
    const auditLog = await writeChain(on, 4, { close: false })
    await expect.poll(() => chains(on)).toHaveLength(1)
    for (let written = 0; written < 3; written += 1) await auditLog.write(auditEntry(), [])
    const [chain] = await chains(on)
    const { report } = await verified(on)
    expect(report.faults).toEqual([])
    expect(report.tails).toEqual([{ chain, from: 5, to: 7, at: expect.any(String) }])
    expect(report.unsigned).toBe(3)
    await auditLog.close()
  })
})

test.each(['tombstones', 'reviews', 'witnessed'] as const)('is aborted also while it reads %s', async (counted) => {
  const { on, chain } = await twoChains()
  for (const sequence of [3, 5]) {
    await erase(on, chain, sequence, 0)
    await review(on, chain, sequence)
  }
  const report = newReport()
  const abort = new AbortController()
  let read = 0
  Object.defineProperty(report.counts, counted, {
    get: () => read,
    set(count: number) {
      read = count
      abort.abort(new Error('enough'))
    },
  })
  const witness = Readable.from(await witnessOf(on))
  const verifying = verifyAuditLog({ db: on.db, vault: await vaultOf(on.db), witness, report, signal: abort.signal })
  await expect(verifying).rejects.toThrow('enough')
  expect(read).toBe(1)
})

type Place = { readonly chain: string; readonly other: string }

/** Acts of tampering, and the faults that the verification names, in order. */
const TAMPERINGS: readonly (readonly [string, (place: Place) => string, (place: Place) => readonly string[]])[] = [
  [
    'an entry is changed',
    ({ chain }) => `update account set entry = replace(entry, '"search"', '"status"') where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'the time of an entry is changed, by a microsecond',
    ({ chain }) => `update account set at = at + interval '1 microsecond' where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`],
  ],
  [
    'the commitments of an entry are changed',
    ({ chain }) =>
      `update account set commitments = set_byte(commitments, 40, 255 - get_byte(commitments, 40)) where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`, `person_changed ${chain} 3 position 1`],
  ],
  [
    'the hash of an entry is changed',
    ({ chain }) => `update account set hash = set_byte(hash, 0, 255 - get_byte(hash, 0)) where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_changed ${chain} 3`, `entry_changed ${chain} 4`],
  ],
  [
    'an entry and its hash are changed together',
    ({ chain }) =>
      `with changed as (select chain, sequence, replace(entry, '"search"', '"status"') as entry, commitments,
          to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as at,
          (select hash from account where ${entry(chain, 9)}) as previous from account where ${entry(chain, 10)})
        update account set entry = changed.entry, hash = sha256(convert_to(encode(previous, 'hex') || '{"at":"' ||
          changed.at || '","chain":"' || changed.chain || '","commitments":"' || encode(changed.commitments, 'hex') ||
          '","entry":' || changed.entry || ',"sequence":' || changed.sequence || '}', 'UTF8'))
        from changed where account.chain = changed.chain and account.sequence = changed.sequence`,
    ({ chain }) => [`checkpoint_hash ${chain} 10`],
  ],
  [
    'the message_id under which an entry is found is changed',
    ({ chain }) => `update account set message_id = 'another' where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_columns ${chain} 3`],
  ],
  [
    'an entry in the middle is deleted',
    ({ chain }) =>
      `with gone as (delete from account where ${entry(chain, 3)}) delete from account_person where ${entry(chain, 3)}`,
    ({ chain }) => [`entry_missing ${chain} 3 to 3`],
  ],
  [
    'the last entry, which a checkpoint signs, is deleted',
    ({ chain }) =>
      `with gone as (delete from account where ${entry(chain, 10)}) delete from account_person where ${entry(chain, 10)}`,
    ({ chain }) => [`entry_truncated ${chain} 10 to 10`],
  ],
  [
    'entries are deleted and their persons stay',
    ({ chain }) => `delete from account where ${entry(chain, 10)}`,
    ({ chain }) => [
      `person_inserted ${chain} 10 position 0`,
      `person_inserted ${chain} 10 position 1`,
      `entry_truncated ${chain} 10 to 10`,
    ],
  ],
  [
    'two entries are swapped',
    ({ chain }) =>
      `update account set sequence = case sequence when 3 then 1000 else 3 end where chain = '${chain}' and sequence = 3;
        update account set sequence = 3 where ${entry(chain, 4)}; update account set sequence = 4 where ${entry(chain, 1000)}`,
    ({ chain }) => [
      `entry_changed ${chain} 3`,
      ...[0, 1].map((position) => `person_changed ${chain} 3 position ${position}`),
      `entry_changed ${chain} 4`,
      ...[0, 1].map((position) => `person_changed ${chain} 4 position ${position}`),
      `checkpoint_hash ${chain} 4`,
      `entry_changed ${chain} 5`,
    ],
  ],
  [
    'an entry is inserted after the end',
    ({ chain }) =>
      `insert into account (chain, sequence, at, entry, commitments, hash)
        select chain, 11, at, entry, '', hash from account where ${entry(chain, 10)}`,
    ({ chain }) => [`entry_changed ${chain} 11`, `entry_after_end ${chain} 11`],
  ],
  [
    'a chain is removed as a whole',
    ({ chain }) =>
      `delete from account where chain = '${chain}'; delete from account_person where chain = '${chain}';
        delete from account_checkpoint where chain = '${chain}'`,
    ({ chain, other }) => [`checkpoint_missing ${chain} 10 named by chain ${other}`],
  ],
  [
    'all entries of a chain are removed',
    ({ chain }) => `delete from account where chain = '${chain}'; delete from account_person where chain = '${chain}'`,
    ({ chain }) => [`entry_truncated ${chain} 1 to 10`],
  ],
  [
    'a checkpoint is changed',
    ({ chain }) =>
      `update account_checkpoint set content = replace(content, '"ended":false', '"ended":true') where ${entry(chain, 4)}`,
    ({ chain }) => [`checkpoint_signature ${chain} 4`, `checkpoint_link ${chain} 8`],
  ],
  [
    'the signature of a checkpoint is changed',
    ({ chain }) =>
      `update account_checkpoint set signature = set_byte(signature, 5, 255 - get_byte(signature, 5)) where ${entry(chain, 4)}`,
    ({ chain }) => [`checkpoint_signature ${chain} 4`],
  ],
  [
    'a column of a checkpoint is changed',
    ({ chain }) => `update account_checkpoint set at = at - interval '1 day' where ${entry(chain, 4)}`,
    ({ chain }) => [`checkpoint_columns ${chain} 4`],
  ],
  [
    'a checkpoint in the middle is deleted',
    ({ chain }) => `delete from account_checkpoint where ${entry(chain, 8)}`,
    ({ chain }) => [`checkpoint_link ${chain} 10`],
  ],
  [
    'the last checkpoint of a chain is deleted with what it signs',
    ({ chain }) =>
      `delete from account_checkpoint where ${entry(chain, 10)}; delete from account where chain = '${chain}' and sequence > 8;
        delete from account_person where chain = '${chain}' and sequence > 8`,
    ({ chain, other }) => [`checkpoint_missing ${chain} 10 named by chain ${other}`],
  ],
  [
    'the row of a person is deleted',
    ({ chain }) => `delete from account_person where ${entry(chain, 3)} and position = 1`,
    ({ chain }) => [`person_missing ${chain} 3 position 1`],
  ],
  [
    'a pseudonym is changed',
    ({ chain }) =>
      `update account_person set pseudonym = set_byte(pseudonym, 0, 255 - get_byte(pseudonym, 0)) where ${entry(chain, 3)} and position = 0`,
    ({ chain }) => [`person_changed ${chain} 3 position 0`],
  ],
  [
    'a role is changed',
    ({ chain }) => `update account_person set role = 'asked' where ${entry(chain, 3)} and position = 1`,
    ({ chain }) => [`person_changed ${chain} 3 position 1`],
  ],
  [
    'a byte moves from the pseudonym to the salt',
    ({ chain }) =>
      `update account_person set salt = salt || substr(pseudonym, 1, 1), pseudonym = substr(pseudonym, 2) where ${entry(chain, 3)} and position = 1`,
    ({ chain }) => [`person_changed ${chain} 3 position 1`],
  ],
  [
    'the row of a person is inserted',
    ({ chain }) =>
      `insert into account_person select chain, sequence, 2, pseudonym, salt, role from account_person
        where ${entry(chain, 3)} and position = 1`,
    ({ chain }) => [`person_inserted ${chain} 3 position 2`],
  ],
]

test.each(TAMPERINGS)('of the version before, %s', async (_, statement, expected) => {
  const { on, ...place } = await twoChains({ before: true })
  await tamper(on, statement(place))
  expect(await places(on)).toEqual(expected(place))
})

test('everything is truncated: only the witness knows', async () => {
  const { on, chain, other } = await twoChains()
  const witness = await witnessOf(on)
  await tamper(on, 'truncate account, account_person, account_checkpoint')
  expect(await places(on)).toEqual([])
  const found = await places(on, witness)
  expect(found).toHaveLength(6)
  expect(found).toContain(`witness_missing ${chain} 4`)
  expect(found).toContain(`witness_missing ${other} 10`)
})

test('an entry behind the last checkpoint is deleted: the process that wrote it finds out', async () => {
  const on = await database()
  const auditLog = await writeChain(on, 6, { close: false, every: 4 })
  await expect.poll(() => chains(on)).toHaveLength(1)
  const [chain = ''] = await chains(on)
  await tamper(on, `delete from account where ${entry(chain, 6)}`)
  await tamper(on, `delete from account_person where ${entry(chain, 6)}`)
  await auditLog.close()
  expect(await places(on)).toEqual([`entry_truncated ${chain} 6 to 6`])
})

describe('tombstones', () => {
  test('a forged one excuses nothing', async () => {
    const { on, chain } = await twoChains()
    await dropPerson(on, chain, 3, 1)
    const erased = { [chain]: [[3, 1]] as const }
    await bury(on, { kind: 'erasure', at: AT, reason: 'forged', erased }, () => Buffer.alloc(64))
    expect(await places(on)).toEqual([
      expect.stringMatching(`^tombstone_signature ${chain} tombstone `),
      `person_missing ${chain} 3 position 1`,
    ])
  })

  test('one that was changed, or deleted, excuses nothing', async () => {
    const { on, chain } = await twoChains()
    await erase(on, chain, 3, 1)
    await tamper(on, `update account_tombstone set content = replace(content, '[3,1]', '[4,1]')`)
    expect(await places(on)).toEqual([expect.stringContaining('tombstone_signature'), `person_missing ${chain} 3 position 1`])
    await tamper(on, 'delete from account_tombstone')
    expect(await places(on)).toEqual([`person_missing ${chain} 3 position 1`])
  })

  test('a column says something else', async () => {
    const { on, chain } = await twoChains()
    await erase(on, chain, 3, 1)
    await tamper(on, `update account_tombstone set at = at + interval '1 hour'`)
    expect(await places(on)).toEqual([expect.stringContaining('tombstone_columns')])
  })

  test('what was erased or pruned is there again', async () => {
    const { on, chain, other } = await twoChains()
    await bury(on, { kind: 'erasure', at: AT, reason: 'test', erased: { [chain]: [[3, 1]] } })
    expect(await places(on)).toEqual([`person_erased ${chain} 3 position 1`])
    await tamper(on, 'create table kept as select * from account where sequence = 2')
    await prune(on, other, 4)
    await tamper(on, `insert into account select * from kept where chain = '${other}'`)
    expect(await places(on)).toContain(`entry_pruned ${other} 2`)
  })

  test('a prune hides no change of what follows', async () => {
    const { on, chain } = await twoChains()
    await prune(on, chain, 4)
    await tamper(on, `update account set message_id = 'another' where ${entry(chain, 5)}`)
    expect(await places(on)).toEqual([`entry_changed ${chain} 5`])
  })
})
