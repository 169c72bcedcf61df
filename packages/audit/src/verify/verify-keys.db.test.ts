/** The verification finds and names changes of the keys of the audit log, and of rows that servers may insert, by the statements of the witness. */
import { describe, expect, onTestFinished, test } from 'vitest'
import { startedDatabase } from '../../../keys/test/postgres.ts'
import { vaultOf } from '../../../settings/test/audit-log.ts'
import { chains, database, places, tamper, twoChains, verified, witnessOf, writeChain } from '../../../settings/test/tampering.ts'
import { verifyAuditLog } from './verify.ts'

const _entry = (chain: string, sequence: number): string => `chain = '${chain}' and sequence = ${sequence}`

describe('rows that the role of servers may insert', () => {
  const FORGED = '00000000-0000-0000-0000-000000000000'
  test.each([
    `account (chain, sequence, at, entry, commitments, hash) values ('${FORGED}', 1, 'infinity', '{}', '', '')`,
    `account (chain, sequence, at, entry, commitments, hash) values
      ('${FORGED}', 9223372036854775807, now(), 'x', '', ''), ('${FORGED}', 9223372036854775806, now(), 'null', '', '')`,
    `account_person values ('${FORGED}', 9223372036854775807, 1, '', '', 'seen')`,
    `account_person values ('${FORGED}', -9223372036854775807, 0, '', '', 'seen')`,
    `account_checkpoint (id, chain, sequence, hash, at, content, digest, kid, signature)
      overriding system value values (-7, '${FORGED}', 9223372036854775807, '', 'infinity', '', '', 'k', '')`,
    `account_tombstone (id, at, content, kid, signature, chains)
      overriding system value values (-7, 'infinity', 'x', 'k', '', array[null]::uuid[])`,
    `account_key (kid, kind, public_key, sealed, retired_at)
      select 'k', kind, public_key, null, now() from account_key where kind = 'signature'`,
  ])('are named: %s', async (rows) => {
    const on = await database()
    await writeChain(on, 4)
    await on.db.pool.query(`insert into ${rows}`)
    expect((await verified(on)).report.faultCount).toBeGreaterThan(0)
  })
})

describe('keys', () => {
  test('a public key that is replaced is found, and so are checkpoints of a key that nobody knows', async () => {
    const { on, chain } = await twoChains()
    await tamper(on, `update account_key set public_key = jsonb_set(public_key, '{x}', '"AAAA"') where kind = 'signature'`)
    const found = await places(on)
    expect(found[0]).toMatch(/^key_changed /)
    expect(found).toContain(`checkpoint_signature ${chain} 4`)
  })

  test('a secret that is retired, changed or removed is found, and no entry is written with a new one', async () => {
    const changes = [
      ['update account_key set retired_at = now()', 'key_changed', 'is missing or retired'],
      [
        'update account_key set sealed = set_byte(sealed, 40, (get_byte(sealed, 40) + 1) % 256)',
        'key_changed',
        'was altered, moved, or encrypted with another master key',
      ],
      ['delete from account_key', 'key_missing', 'is missing or retired'],
    ] as const
    for (const kind of ['pseudonym', 'confidential']) {
      for (const [statement, fault, message] of changes) {
        const { on } = await twoChains()
        // The owner can lift what the database refuses.
        await tamper(on, 'alter table account_key drop constraint account_key_secret_check')
        await tamper(on, `${statement} where kind = '${kind}'`)
        const found = (await places(on)).map((place) => place.split(' ')[0])
        expect([...new Set(found)], statement).toEqual([fault])
        await expect(writeChain(on, 1, { at: 7 }), statement).rejects.toThrow(message)
      }
    }
  })

  test('the role of servers cannot retire a secret', async () => {
    const { on } = await twoChains()
    for (const kind of ['pseudonym', 'confidential']) {
      const retired = on.db.pool.query('update account_key set retired_at = now() where kind = $1', [kind])
      await expect(retired, kind).rejects.toThrow(/account_key/)
    }
    await expect(tamper(on, `update account_key set retired_at = now() where kind = 'pseudonym'`)).rejects.toThrow(
      'account_key_secret_check',
    )
  })

  test('a secret that took the place of another one is found by the checkpoints that name it', async () => {
    const { on } = await twoChains()
    await tamper(on, `update account_key set kid = 'another' where kind = 'pseudonym'`)
    const { report } = await verifyAuditLog({ db: on.db, vault: null, witness: null })
    expect(report.faults).toMatchObject([{ kind: 'key_missing', detail: expect.stringMatching(/^pseudonym /) }])
  })

  test('an audit log that is signed anew with a key of somebody else is found with the master key', async () => {
    const { on } = await twoChains()
    const stranger = await startedDatabase()
    onTestFinished(() => stranger.close())
    await writeChain(stranger, 3)
    const [key] = (await stranger.db.pool.query(`select kid, public_key from account_key where kind = 'signature'`)).rows
    await tamper(on, `update account_key set retired_at = now() where kind = 'signature'`)
    await tamper(
      on,
      `insert into account_key (kid, kind, public_key, sealed)
        select $1, 'signature', $2, sealed from account_key where kind = 'signature'`,
      [key.kid, key.public_key],
    )
    // Nothing retires a key: that is found without the master key too.
    const { report } = await verifyAuditLog({ db: on.db, vault: null, witness: null })
    expect(report.faults).toMatchObject([{ kind: 'key_changed', detail: expect.not.stringMatching(key.kid) }])
    expect(await places(on)).toEqual([`key_changed ${report.faults[0]?.detail}`, `key_changed ${key.kid}`])
    expect(await vaultOf(on.db)).toBeDefined()
  })
})

describe('the witness', () => {
  test('agrees with a healthy database, among other lines', async () => {
    const { on } = await twoChains()
    const lines = await witnessOf(on)
    const { report } = await verified(on, ['another program: hello', ...lines, ''])
    expect(report.faults).toEqual([])
    expect(report.counts.witnessed).toBe(6)
  })

  test('knows what a database that was rolled back has lost', async () => {
    const on = await database()
    await writeChain(on, 10)
    for (const table of ['account_entry', 'account_checkpoint'])
      await tamper(on, `create table backup_of_${table} as select * from ${table}`)
    await writeChain(on, 3, { at: 1 })
    const [, lost] = await chains(on)
    const witness = await witnessOf(on)
    for (const table of ['account_entry', 'account_checkpoint'])
      await tamper(on, `delete from ${table}; insert into ${table} overriding system value select * from backup_of_${table}`)
    expect(await places(on)).toEqual([])
    expect(await places(on, witness)).toEqual([`witness_missing ${lost} 3`])
  })

  test('has another checkpoint', async () => {
    const { on, chain } = await twoChains()
    const [line = ''] = await witnessOf(on)
    const changed = line.replace(/"hash":"../, '"hash":"zz')
    expect(await places(on, [changed])).toEqual([`witness_different ${chain} 4`])
  })
})
