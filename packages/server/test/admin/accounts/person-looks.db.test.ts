import { reportAccess } from '@rollcall/admin/accounts/access-report'
import { auditPerson } from '@rollcall/admin/accounts/person-looks'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords } from '@rollcall/admin/records/merge'
import { deleteRecords } from '@rollcall/admin/records/records'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { personText } from '../../../../cli/src/account-text.ts'
import { auditing, personAs } from '../../../../settings/test/audit.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const { needs, account } = auditing(server.database)

const person = (identifiers: Record<string, string>, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: Object.entries(identifiers).map(([identifier_type, identifier_value]) => ({
    identifier_type,
    identifier_value,
  })),
  name: { surname: 'Okoro' },
  ...more,
})
await server.registry('civil', [
  person({ UIN: '1', BRN: 'B-1', NID: 'N-1' }, { phone_number: ['+15550100'] }),
  person({ UIN: '2', BRN: 'B-2' }, { phone_number: ['+15550100'] }),
  person({ UIN: '41', BRN: 'B-41' }),
  person({ UIN: '71' }),
  person({ UIN: '72' }),
])

/** The operations of what is found, by role. */
async function found(type: string, value: string, period: { from?: string; to?: string } = {}) {
  const { seen, written, asked } = await auditPerson(acting(needs), { type, value, ...period })
  const operations = (looks: typeof seen) => looks.map(({ operation, note }) => operation ?? note)
  return { seen: operations(seen), written: operations(written), asked: operations(asked) }
}

describe('audit person', () => {
  it('follows records that were merged into that of the person, by either identifier', async () => {
    await account({ operation: 'before the merge' }, [personAs('seen', 'UIN:72')])
    await mergeRecords(acting({ ...needs, limits: DEFAULT_LIMITS }), {
      namespace: 'civil',
      survivor: { identifier_type: 'UIN', identifier_value: '71' },
      retired: { identifier_type: 'UIN', identifier_value: '72' },
    })
    await account({ operation: 'after it' }, [personAs('seen', 'UIN:71')])
    for (const value of ['71', '72'])
      expect((await found('UIN', value)).seen, value).toEqual(['before the merge', 'after it'])
  })

  it('finds who has seen, written, or only asked, in every registry', async () => {
    await account({ operation: 'saw', purpose: 'eligibility', basis: 'consent' }, [
      personAs('asked', 'UIN:1'),
      personAs('seen', 'UIN:1', 'BRN:B-1'),
    ])
    await account({ operation: 'saw elsewhere', registry: 'social', shown: { Member: ['sex'] } }, [
      personAs('seen', 'UIN:1'),
    ])
    await account({ operation: 'wrote' }, [personAs('written', 'UIN:1')])
    await account({ operation: 'asked', records: 0, shown: {} }, [personAs('asked', 'UIN:1')])
    await account({ operation: 'other' }, [personAs('seen', 'UIN:2')])
    const audit = await auditPerson(acting(needs), { type: 'UIN', value: '1' })
    expect(audit.seen).toMatchObject([
      {
        operation: 'saw',
        participant: 'sp.example',
        registry: 'civil',
        purpose: 'eligibility',
        basis: 'consent',
        shown: { Person: ['name'] },
        identifier_types: ['BRN', 'UIN'],
        again: false,
        unsent: false,
        id: expect.stringMatching(/^[0-9a-f-]{36}\.\d+$/),
        at: expect.stringMatching(/^\d{4}-.*Z$/),
      },
      { operation: 'saw elsewhere', registry: 'social', shown: { Member: ['sex'] } },
    ])
    expect(audit.written).toMatchObject([{ operation: 'wrote' }])
    // The look itself is accounted before it is shown.
    expect(audit.asked).toMatchObject([
      { operation: 'asked', records: 0 },
      { note: 'audit person', operator: 'auditor', kind: 'operator' },
    ])
  })

  it('finds them by any spelling, and by the other identifiers of the record', async () => {
    await account({ operation: 'by birth number' }, [personAs('asked', 'BRN:B-1')])
    await account({ operation: 'by national number' }, [personAs('seen', 'NID:N-1')])
    for (const [type, value] of [
      ['uin', ' 1 '],
      ['BRN', 'b-1'],
      ['NationalID', 'N-1'],
    ] as const) {
      const { seen, asked } = await found(type, value)
      expect(seen, type).toEqual(['saw', 'saw elsewhere', 'by national number'])
      expect(asked).toContain('by birth number')
    }
  })

  it('finds the accounts of a protected person by the other identifiers too', async () => {
    await account({ operation: 'before it was protected' }, [personAs('asked', 'BRN:B-41')])
    const { db } = needs
    const named = { identifier_type: 'UIN', identifier_value: '41' }
    const protection = { ...named, namespace: 'civil', category: 'shelter' as const, reason: 'x' }
    await protectPerson(acting({ db }), protection)
    for (const [type, value] of [
      ['UIN', '41'],
      ['BRN', 'B-41'],
    ] as const) {
      const audit = await auditPerson(acting(needs), { type, value })
      expect(audit.identifier_types.toSorted()).toEqual(['BRN', 'UIN'])
      expect(audit.asked).toContainEqual(expect.objectContaining({ operation: 'before it was protected' }))
    }
  })

  it('marks what was not sent, for programs, people and the person', async () => {
    const reply = (message_id: string) => ({ message_id, digest: 'd', kid: null, signature: null })
    const seen = [personAs('seen', 'UIN:81')]
    await account({ kind: 'callback', operation: 'lost', reply: reply('page-1') }, seen)
    await account({ kind: 'unsent', note: 'not sent', operation: 'lost', reply: reply('page-1') })
    await account({ kind: 'callback', operation: 'left', reply: reply('page-2') }, seen)
    const audit = await auditPerson(acting(needs), { type: 'UIN', value: '81' })
    expect(audit.seen.map(({ operation, unsent }) => [operation, unsent])).toEqual([
      ['lost', true],
      ['left', false],
    ])
    const [head, lost, left] = personText(audit)
      .split('\n')
      .filter((line) => /^at|callback|civil/.test(line))
    expect([head, lost, left].map((line) => line?.trim().split(/\s+/).at(-1))).toEqual(['unsent', 'yes', 'no'])
    const { report } = await reportAccess(acting(needs), { type: 'UIN', value: '81' })
    expect(report.seen.map(({ what }) => what)).toEqual([
      'A question was answered later (it was not sent: no data left)',
      'A question was answered later',
    ])
    expect(report.months.seen).toMatchObject([{ looks: 1 }])
  })

  it('does not take a shared phone number for a person, but looks for it when it is named', async () => {
    await account({ operation: 'by phone' }, [personAs('asked', 'MOBILE:15550100')])
    expect((await found('UIN', '1')).asked).not.toContain('by phone')
    const byPhone = await found('MOBILE', '+1 555 0100')
    expect(byPhone.asked).toContain('by phone')
    // It is of two people: it leads to the accounts of neither.
    expect(byPhone.seen).toEqual([])
  })

  it('finds answers that were given again', async () => {
    await account({ operation: 'first', correlation_id: 'c-2' }, [personAs('seen', 'UIN:2')])
    await account({ operation: 'again', repeats: ['c-1', 'c-2'] })
    await account({ operation: 'nothing of it', repeats: ['c-3'] })
    const { seen } = await auditPerson(acting(needs), { type: 'UIN', value: '2' })
    expect(seen.map(({ operation, again, identifier_types }) => [operation, again, identifier_types])).toEqual([
      ['other', false, ['UIN']],
      ['first', false, ['UIN']],
      ['again', true, ['UIN']],
    ])
  })

  it('looks through a period', async () => {
    const { rows } = await server.database.db.pool.query(
      `select at from account where entry like '%"first"%' and entry like '%"c-2"%'`,
    )
    const at = (rows[0].at as Date).toISOString()
    const before = new Date(rows[0].at.getTime() - 1).toISOString()
    expect((await found('UIN', '2', { to: before })).seen).toEqual(['other'])
    expect((await found('UIN', '2', { from: at })).seen).toEqual(['first', 'again'])
    expect((await found('UIN', '2', { to: '1999-01-01T00:00:00Z' })).seen).toEqual([])
  })

  it('finds what was given again in the period of what was seen before it', async () => {
    const { seen } = await auditPerson(acting(needs), { type: 'UIN', value: '2' })
    const from = seen.find(({ operation }) => operation === 'again')?.at ?? ''
    const since = seen.flatMap(({ at, operation }) => (at >= from ? [operation] : []))
    expect(since).toContain('again')
    expect((await found('UIN', '2', { from })).seen).toEqual(since)
  })

  it('knows the accounts of a record that was deleted', async () => {
    await deleteRecords(acting({ ...needs, limits: server.context.limits }), {
      namespace: 'civil',
      record_type: 'Person',
      identifiers: ['2'],
    })
    expect((await found('UIN', '2')).seen).toEqual(['other', 'first', 'again'])
  })

  it('shows what was accounted encrypted only when it is asked for', async () => {
    await account({ operation: 'sealed', confidential: { requested_by: 'clerk-7', case: 'C/1' } }, [
      personAs('seen', 'UIN:77'),
    ])
    const look = { type: 'UIN', value: '77' }
    expect(JSON.stringify(await auditPerson(acting(needs), look))).not.toContain('clerk-7')
    expect((await auditPerson(acting(needs), { ...look, confidential: true })).seen).toMatchObject([
      { requested_by: 'clerk-7', case: 'C/1' },
    ])
  })

  it('reads a type that one registry does not list as what it is there', async () => {
    await account({ operation: 'without a name', registry: 'civil' }, [personAs('seen', '*:H-9')])
    await account({ operation: 'other type', registry: 'social' }, [personAs('seen', '*:H-9')])
    await account({ operation: 'with a name', registry: 'social' }, [personAs('seen', 'HOUSEHOLD_ID:H-9')])
    expect((await found('HOUSEHOLD_ID', 'H-9')).seen).toEqual(['without a name', 'with a name'])
  })

  it('is not written where it cannot be accounted', async () => {
    const accounts = { write: () => Promise.reject(new Error('no account')) }
    await expect(auditPerson(acting({ ...needs, accounts }), { type: 'UIN', value: '1' })).rejects.toThrow('no account')
  })

  it('refuses an identifier that no registry can have', async () => {
    await expect(auditPerson(acting(needs), { type: 'UIN', value: ' ' })).rejects.toThrow(
      'type and value: must be an identifier of a type such as',
    )
  })
})
