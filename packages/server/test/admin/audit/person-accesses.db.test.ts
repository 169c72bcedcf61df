import { reportAccess } from '@rollcall/admin/audit/access-report'
import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { mergeRecords } from '@rollcall/admin/records/merge'
import { deleteRecords } from '@rollcall/admin/records/records'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { afterAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { personAuditText } from '../../../../cli/src/audit-text.ts'
import { auditing, personAs } from '../../../../settings/test/audit.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const { deps, addEntry } = auditing(server.database)

const person = (identifiers: Record<string, string>, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: Object.entries(identifiers).map(([identifier_type, identifier_value]) => ({ identifier_type, identifier_value })),
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
  const { seen, written, asked } = await auditPerson(acting(deps), { type, value, ...period })
  const operations = (looks: typeof seen) => looks.map(({ operation, note }) => operation ?? note)
  return { seen: operations(seen), written: operations(written), asked: operations(asked) }
}

describe('audit person', () => {
  it('follows records that were merged into that of the person, by either identifier', async () => {
    await addEntry({ operation: 'before the merge' }, [personAs('seen', 'UIN:72')])
    await mergeRecords(acting({ ...deps, limits: DEFAULT_LIMITS }), {
      namespace: 'civil',
      survivor: { identifier_type: 'UIN', identifier_value: '71' },
      retired: { identifier_type: 'UIN', identifier_value: '72' },
    })
    await addEntry({ operation: 'after it' }, [personAs('seen', 'UIN:71')])
    for (const value of ['71', '72']) expect((await found('UIN', value)).seen, value).toEqual(['before the merge', 'after it'])
  })

  it('finds who has seen, written, or only asked, in every registry', async () => {
    await addEntry({ operation: 'saw', purpose: 'eligibility', basis: 'consent' }, [
      personAs('asked', 'UIN:1'),
      personAs('seen', 'UIN:1', 'BRN:B-1'),
    ])
    await addEntry({ operation: 'saw elsewhere', registry: 'social', shown: { Member: ['sex'] } }, [personAs('seen', 'UIN:1')])
    await addEntry({ operation: 'wrote' }, [personAs('written', 'UIN:1')])
    await addEntry({ operation: 'asked', records: 0, shown: {} }, [personAs('asked', 'UIN:1')])
    await addEntry({ operation: 'other' }, [personAs('seen', 'UIN:2')])
    const audit = await auditPerson(acting(deps), { type: 'UIN', value: '1' })
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
    // The access itself has an audit entry before anything is shown.
    expect(audit.asked).toMatchObject([
      { operation: 'asked', records: 0 },
      { note: 'audit person', operator: 'auditor', kind: 'operator' },
    ])
  })

  it('finds them by any spelling, and by the other identifiers of the record', async () => {
    await addEntry({ operation: 'by birth number' }, [personAs('asked', 'BRN:B-1')])
    await addEntry({ operation: 'by national number' }, [personAs('seen', 'NID:N-1')])
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

  it('finds the audit entries of a protected person by the other identifiers too', async () => {
    await addEntry({ operation: 'before it was protected' }, [personAs('asked', 'BRN:B-41')])
    const { db } = deps
    const named = { identifier_type: 'UIN', identifier_value: '41' }
    const protection = { ...named, namespace: 'civil', category: 'shelter' as const, reason: 'x' }
    await protectPerson(acting({ db }), protection)
    for (const [type, value] of [
      ['UIN', '41'],
      ['BRN', 'B-41'],
    ] as const) {
      const audit = await auditPerson(acting(deps), { type, value })
      expect(audit.identifier_types.toSorted()).toEqual(['BRN', 'UIN'])
      expect(audit.asked).toContainEqual(expect.objectContaining({ operation: 'before it was protected' }))
    }
  })

  it('marks what was not sent, for programs, people and the person', async () => {
    const reply = (message_id: string) => ({ message_id, digest: 'd', kid: null, signature: null })
    const seen = [personAs('seen', 'UIN:81')]
    await addEntry({ kind: 'callback', operation: 'lost', reply: reply('page-1') }, seen)
    await addEntry({ kind: 'unsent', note: 'not sent', operation: 'lost', reply: reply('page-1') })
    await addEntry({ kind: 'callback', operation: 'left', reply: reply('page-2') }, seen)
    const audit = await auditPerson(acting(deps), { type: 'UIN', value: '81' })
    expect(audit.seen.map(({ operation, unsent }) => [operation, unsent])).toEqual([
      ['lost', true],
      ['left', false],
    ])
    const [head, lost, left] = personAuditText(audit)
      .split('\n')
      .filter((line) => /^at|callback|civil/.test(line))
    expect([head, lost, left].map((line) => line?.trim().split(/\s+/).at(-1))).toEqual(['unsent', 'yes', 'no'])
    const { report } = await reportAccess(acting(deps), { type: 'UIN', value: '81' })
    expect(report.seen.map(({ what }) => what)).toEqual([
      'A question was answered later (it was not sent: no data left)',
      'A question was answered later',
    ])
    expect(report.months.seen).toMatchObject([{ looks: 1 }])
  })

  it('does not take a shared phone number for a person, but looks for it when it is named', async () => {
    await addEntry({ operation: 'by phone' }, [personAs('asked', 'MOBILE:15550100')])
    expect((await found('UIN', '1')).asked).not.toContain('by phone')
    const byPhone = await found('MOBILE', '+1 555 0100')
    expect(byPhone.asked).toContain('by phone')
    // It is of two people: it leads to the entries of neither.
    expect(byPhone.seen).toEqual([])
  })

  it('finds answers that were given again', async () => {
    await addEntry({ operation: 'first', correlation_id: 'c-2' }, [personAs('seen', 'UIN:2')])
    await addEntry({ operation: 'again', repeats: ['c-1', 'c-2'] })
    await addEntry({ operation: 'nothing of it', repeats: ['c-3'] })
    const { seen } = await auditPerson(acting(deps), { type: 'UIN', value: '2' })
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
    await addEntry({ operation: 'only asked', records: 0, shown: {} }, [personAs('asked', 'UIN:41')])
    expect((await found('UIN', '41', { from: '2016-12-31T23:59:60Z' })).asked).toContain('only asked')
  })

  it('finds what was given again in the period of what was seen before it', async () => {
    const { seen } = await auditPerson(acting(deps), { type: 'UIN', value: '2' })
    const from = seen.find(({ operation }) => operation === 'again')?.at ?? ''
    const since = seen.flatMap(({ at, operation }) => (at >= from ? [operation] : []))
    expect(since).toContain('again')
    expect((await found('UIN', '2', { from })).seen).toEqual(since)
  })

  it('knows the audit entries of a record that was deleted', async () => {
    await deleteRecords(acting({ ...deps, limits: server.context.limits }), {
      namespace: 'civil',
      record_type: 'Person',
      identifiers: ['2'],
    })
    expect((await found('UIN', '2')).seen).toEqual(['other', 'first', 'again'])
  })

  it('shows what is stored encrypted only when it is asked for', async () => {
    await addEntry({ operation: 'sealed', confidential: { requested_by: 'clerk-7', case: 'C/1' } }, [personAs('seen', 'UIN:77')])
    const look = { type: 'UIN', value: '77' }
    expect(JSON.stringify(await auditPerson(acting(deps), look))).not.toContain('clerk-7')
    expect((await auditPerson(acting(deps), { ...look, confidential: true })).seen).toMatchObject([
      { requested_by: 'clerk-7', case: 'C/1' },
    ])
  })

  it('reads a type that one registry does not list as what it is there', async () => {
    await addEntry({ operation: 'without a name', registry: 'civil' }, [personAs('seen', '*:H-9')])
    await addEntry({ operation: 'other type', registry: 'social' }, [personAs('seen', '*:H-9')])
    await addEntry({ operation: 'with a name', registry: 'social' }, [personAs('seen', 'HOUSEHOLD_ID:H-9')])
    expect((await found('HOUSEHOLD_ID', 'H-9')).seen).toEqual(['without a name', 'with a name'])
  })

  it('is not written where no audit entry can be', async () => {
    const auditLog = { write: () => Promise.reject(new Error('no audit log')) }
    await expect(auditPerson(acting({ ...deps, auditLog }), { type: 'UIN', value: '1' })).rejects.toThrow('no audit log')
  })

  it('refuses an identifier that no registry can have', async () => {
    await expect(auditPerson(acting(deps), { type: 'UIN', value: ' ' })).rejects.toThrow(
      'type and value: must be an identifier of a type such as',
    )
  })

  it.each(['2026-01-01T00:00:00Z', '2026-06-01T00:00:00Z'])('refuses a period from June that ends at %s', async (to) => {
    const look = { type: 'UIN', value: '71', from: '2026-06-01T00:00:00Z', to }
    const looks = async () => (await found('UIN', '71')).asked.length
    const before = await looks()
    const refusal = { name: 'AdminRefusal', message: 'to: must be later than from' }
    await expect(auditPerson(acting(deps), look)).rejects.toMatchObject(refusal)
    await expect(reportAccess(acting(deps), look)).rejects.toMatchObject(refusal)
    // The look that counts has an audit entry itself, and the refused ones have none.
    expect(await looks()).toBe(before + 1)
  })
})
