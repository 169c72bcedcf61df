import { openDatabase } from '@rollcall/database/database'
import { afterAll, describe, expect, it } from 'vitest'
import { startedDatabase } from '../../../keys/test/postgres.ts'
import { auditing, personAs } from '../../../settings/test/audit.ts'
import { acting } from '../../test/acting.ts'
import { listAuditEntries, listEmergencies, reviewEmergency } from './list.ts'

const database = await startedDatabase()
afterAll(() => database.close())
const { deps, addEntry } = auditing(database)

describe('audit list', () => {
  it('has the newest entries, and those that are asked for', async () => {
    await addEntry({ operation: 'one', participant: 'a.example' }, [personAs('seen', 'UIN:1')])
    await addEntry({ operation: 'two', participant: 'b.example', registry: 'social' })
    await addEntry({ kind: 'refusal', operation: 'three', participant: 'a.example', count: 3 })
    const listed = async (input: Parameters<typeof listAuditEntries>[1]) =>
      (await listAuditEntries(acting(deps), input)).map(({ operation }) => operation).filter((name) => name !== null)
    expect(await listed({})).toEqual(['three', 'two', 'one'])
    expect(await listAuditEntries(acting(deps), { limit: 2 })).toHaveLength(2)
    expect(await listed({ participant: 'a.example' })).toEqual(['three', 'one'])
    expect(await listed({ namespace: 'social' })).toEqual(['two'])
    expect(await listed({ kind: 'refusal' })).toEqual(['three'])
    expect(await listed({ from: '2100-01-01T00:00:00Z' })).toEqual([])
    expect(await listed({ to: '2020-01-01T00:00:00Z' })).toEqual([])
    await expect(listed({ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' })).rejects.toThrow(
      'to: must be later than from',
    )
    expect(await listAuditEntries(acting(deps), { kind: 'operator', limit: 1 })).toMatchObject([
      { note: 'audit list', operator: 'auditor', participant: null },
    ])
    expect(await listAuditEntries(acting(deps), { kind: 'refusal' })).toMatchObject([{ count: 3 }])
  })

  it('finds old entries as well', async () => {
    await addEntry({ operation: 'old', participant: 'old.example' })
    // The owner does this: the application changes no entry.
    const owner = openDatabase(database.owner)
    await owner.pool.query(`update account set at = at - interval '400 days' where entry like '%"old.example"%'`)
    await owner.close()
    expect(await listAuditEntries(acting(deps), { participant: 'old.example' })).toMatchObject([{ operation: 'old' }])
    const to = new Date(Date.now() - 300 * 86_400_000).toISOString()
    expect(await listAuditEntries(acting(deps), { to })).toMatchObject([{ operation: 'old' }])
  })
})

describe('where a call looks through so many entries at most', () => {
  const bounded = { ...deps, limits: { searched_entries: 2 } }

  /** Page by page to the oldest entry; where a page says that it found none, from the time that it names. */
  async function walked(participant: string) {
    const seen: (string | null)[] = []
    const refusals: unknown[] = []
    for (let from: { readonly before?: string; readonly to?: string } = {}; ; ) {
      const page = await listAuditEntries(acting(bounded), { participant, limit: 3, ...from }).catch((error: unknown) => {
        refusals.push(error)
        return null
      })
      if (page?.length === 0) return { seen, refusals }
      seen.push(...(page ?? []).map(({ operation }) => operation))
      from = page === null ? { to: goOn(refusals.at(-1)) } : { before: page.at(-1)?.id ?? '' }
    }
  }

  const goOn = (refusal: unknown): string => {
    expect(refusal).toMatchObject({ name: 'AdminRefusal', reason: 'conflict' })
    const [, back = '', to = ''] =
      /^no such entry was found back to (\S+), and older ones were not looked through: go on with to=(\S+)$/.exec(
        refusal instanceof Error ? refusal.message : '',
      ) ?? []
    expect([back, new Date(to).toISOString()]).toEqual([to, back])
    return to
  }

  it('a page may have fewer, and the next one goes on behind them', async () => {
    for (const operation of ['far', 'near']) await addEntry({ operation, participant: 'rare.example' })
    expect((await walked('rare.example')).seen).toEqual(['near', 'far'])
  })

  it('one that finds nothing says where to go on', async () => {
    const { seen, refusals } = await walked('nobody.example')
    expect([seen, refusals.length > 0]).toEqual([[], true])
    expect(await listAuditEntries(acting(deps), { participant: 'nobody.example' })).toEqual([])
  })
})

describe('emergencies', () => {
  it('wait until somebody has reviewed them, and the audit log stays as it is', async () => {
    await addEntry({ operation: 'usual', shown: { '"emergency":true': ['"emergency":true'] } })
    await addEntry({ operation: 'first', emergency: true, confidential: { reason: 'Unconscious patient' } })
    await addEntry({ operation: 'second', emergency: true, confidential: { reason: 'Fire', case: 'C/2' } })
    const waiting = await listEmergencies(acting(deps), {})
    expect(waiting).toMatchObject([
      { operation: 'first', reason: 'Unconscious patient', emergency: true, reviews: [] },
      { operation: 'second', reason: 'Fire', case: 'C/2' },
    ])
    const { rows: before } = await database.db.pool.query('select * from account order by at, sequence')
    const id = waiting[0]?.id ?? ''
    expect(await reviewEmergency(acting(deps), { id, note: 'Checked with Dr Ndiaye' })).toMatchObject({
      id,
      reviewed_by: 'auditor',
      note: 'Checked with Dr Ndiaye',
    })
    await reviewEmergency(acting({ ...deps, caller: { kind: 'shell', user: 'second auditor' } as const }), {
      id,
      note: 'And again',
    })
    expect(await listEmergencies(acting(deps), {})).toMatchObject([{ operation: 'second' }])
    expect(await listEmergencies(acting(deps), { reviewed: true })).toMatchObject([
      {
        operation: 'first',
        reviews: [
          { reviewed_by: 'auditor', note: 'Checked with Dr Ndiaye' },
          { reviewed_by: 'second auditor', note: 'And again' },
        ],
      },
    ])
    const { rows: after } = await database.db.pool.query('select * from account order by at, sequence')
    expect(after.slice(0, before.length)).toEqual(before)
    const { rows } = await database.db.pool.query('select sealed from account_review')
    expect(JSON.stringify(rows)).not.toContain('Ndiaye')
    expect(await listAuditEntries(acting(deps), { kind: 'operator' })).toContainEqual(
      expect.objectContaining({ note: 'audit review', operator: 'second auditor' }),
    )
  })

  it('are not reviewed by a row that somebody writes into the database', async () => {
    await addEntry({ operation: 'hidden', emergency: true, confidential: { reason: 'Flood' } })
    const operations = async () => (await listEmergencies(acting(deps), {})).map(({ operation }) => operation)
    expect(await operations()).toContain('hidden')
    await database.db.pool.query(
      `insert into account_review (chain, sequence, reviewed_by, sealed)
        select chain, sequence, 'director', sealed from account, lateral (values ('x'), (entry::jsonb ->> 'sealed'),
          ((select sealed from account_review limit 1))) as forged (sealed)
        where entry::jsonb ->> 'operation' = 'hidden'`,
    )
    expect(await operations()).toContain('hidden')
    const reviewed = await listEmergencies(acting(deps), { reviewed: true })
    expect(reviewed.map(({ operation }) => operation)).not.toContain('hidden')
  })

  it.each([
    ['a word', 'emergency', 'id: must be that of an entry, a chain and a number with a dot between them'],
    [
      'an unknown entry',
      '4f0c2b7e-0d52-4c6e-9a54-30c1f2d9a002.1',
      'no emergency has this id; rollcall audit emergencies lists them',
    ],
  ])('are not reviewed by %s', async (_, id, message) => {
    await expect(reviewEmergency(acting(deps), { id, note: 'x' })).rejects.toThrow(message)
  })

  it('are the only entries that are reviewed', async () => {
    const [usual] = await listAuditEntries(acting(deps), { participant: 'a.example', limit: 1 })
    await expect(reviewEmergency(acting(deps), { id: usual?.id ?? '', note: 'x' })).rejects.toThrow('no emergency')
  })
})
