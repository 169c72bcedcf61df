/** Searches under a grant that demands the person's consent: what they may ask, and what they see. */

import type { GrantTerms } from '@rollcall/core/model/grant'
import { describe, expect, it, vi } from 'vitest'
import { storedEntries } from '../../../../settings/test/audit-log.ts'
import { accepted, answerExchange, searchFor } from '../../asynchronous.ts'
import { byUin, expression, grantedServer, uins } from '../../granted.ts'

const { server, peer, item, granted, pagesOf } = await grantedServer()

describe('basis consent', () => {
  const CONSENT = { ts: new Date().toISOString(), purpose: { text: 'Eligibility check', code: 'eligibility' } }
  const terms: Partial<GrantTerms> = {
    basis: 'consent',
    purposes: ['eligibility', 'appeal'],
    operations: ['search', 'txn-status'],
    query_forms: ['identifier'],
    see: ['identifier', 'name'],
  }
  const NEEDED = 'with ts and a purpose.code of eligibility, appeal'

  it('answers about the one who consents', async () => {
    await granted(terms)
    expect(uins(await item({ ...byUin('1'), consent: CONSENT }))).toEqual(['1'])
    // An identifier of two people names none of them for sure.
    const byPhone = { query_type: 'idtype-value', query: { type: 'MOBILE', value: '+1 555 0100' } }
    expect(await item({ ...byPhone, consent: CONSENT })).toMatchObject({
      status: 'succ',
      data: { reg_records: [] },
      pagination: { total_count: 0 },
    })
  })

  it('takes a slot for each search of a value of several types, also for the one that asks who shares it', async () => {
    await granted(terms)
    const slots = vi.spyOn(server.context.modes.sync.searchSlots, 'run')
    // With its dashes it is a code, without them a telephone number.
    const answer = await item({ ...expression({ identifier: { $eq: '012-345-678' } }), consent: CONSENT })
    const takers = slots.mock.calls.map(([participant]) => participant)
    slots.mockRestore()
    expect(takers).toEqual([peer.id, peer.id])
    expect(answer).toMatchObject({ status: 'succ', data: { reg_records: [] } })
  })

  it('asks before its answer leaves whether the consent still holds: one statement, without a transaction', async () => {
    await granted(terms)
    const query = vi.spyOn(server.context.db.pool, 'query')
    const answer = await item({ ...byUin('1'), consent: CONSENT })
    const asked = query.mock.calls.filter(
      ([statement]: unknown[]) => Object(statement).name === 'is one of several consents ended',
    )
    query.mockRestore()
    expect(uins(answer)).toEqual(['1'])
    // A transaction has a connection of its own, and asks nothing of the pool.
    expect(asked).toHaveLength(1)
  })

  it('asks for one identifier, by a form of identifiers', async () => {
    await granted(terms)
    for (const query of [{ UIN: { $in: ['1', '2'] } }, { $or: [{ UIN: { $eq: '1' } }, { BRN: { $eq: 'B-2' } }] }]) {
      expect(await item({ ...expression(query), consent: CONSENT })).toMatchObject({
        status: 'rjct',
        status_reason_code: 'rjct.search_criteria.invalid',
      })
    }
    expect(await item({ ...expression({ UIN: { $in: ['1', '2'] } }), consent: CONSENT })).toMatchObject({
      status_reason_message: 'search_criteria.query: must ask for one identifier, of the person who consents',
    })
    expect(uins(await item({ ...expression({ UIN: { $in: ['1'] } }), consent: CONSENT }))).toEqual(['1'])
  })

  it('is asked for again before each further page', async () => {
    const answered = async (consent: object) => {
      await granted({ query_forms: ['identifier'], see: ['identifier', 'name'] })
      const pagination = { page_size: 1, page_number: 1 }
      const search_criteria = {
        query_type: 'idtype-value',
        query: { type: 'MOBILE', value: '+1 555 0100' },
        pagination,
        ...consent,
      }
      const id = await accepted(server, peer, searchFor(peer, [{ search_criteria }]))
      await answerExchange(server, id, { signal: AbortSignal.abort() })
      await granted(terms)
      return (await pagesOf(id))[1]
    }
    expect(await answered({})).toMatchObject({
      status: 'rjct',
      status_reason_message: `search_criteria.consent: is required here, ${NEEDED}`,
    })
    expect(await answered({ consent: CONSENT })).toMatchObject({
      status: 'rjct',
      status_reason_message: 'search_criteria.query: found several people, and this participant may ask about one who consents',
    })
  })

  it.each([
    ['none', undefined, `search_criteria.consent: is required here, ${NEEDED}`],
    ['one without a time', { purpose: CONSENT.purpose }, `search_criteria.consent.ts: is required here, ${NEEDED}`],
    ['one of the future', { ...CONSENT, ts: '2100-01-01T00:00:00Z' }, 'search_criteria.consent.ts: must not be in the future'],
    ['an old one', { ...CONSENT, ts: '1999-01-01T00:00:00Z' }, 'search_criteria.consent.ts: must not be older than 365 days'],
    [
      'another purpose',
      { ...CONSENT, purpose: { code: 'marketing' } },
      'search_criteria.consent.purpose.code: must be one of eligibility, appeal',
    ],
    ['no purpose', { ts: CONSENT.ts }, 'search_criteria.consent.purpose.code: must be one of eligibility, appeal'],
  ])('rejects %s', async (_, consent, message) => {
    await granted(terms)
    expect(await item({ ...byUin('1'), ...(consent && { consent }) })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.search_criteria.invalid',
      status_reason_message: message,
    })
  })

  it('knows an authorization as well where either is enough', async () => {
    await granted({ ...terms, basis: 'either' })
    expect(uins(await item({ ...byUin('1'), authorize: CONSENT }))).toEqual(['1'])
    await granted({ ...terms, basis: 'authorize' })
    expect(await item({ ...byUin('1'), consent: CONSENT })).toMatchObject({
      status_reason_message: `search_criteria.authorize: is required here, ${NEEDED}`,
    })
  })

  it('the audit entry names a purpose that the grant names, and no other text: it may be about a person', async () => {
    const ts = new Date().toISOString()
    const about = (code: string) => ({ ...byUin('1'), consent: { ts, purpose: { code } } })
    const audited = async (code: string, more: Partial<GrantTerms> = {}) => {
      await granted({ ...terms, ...more })
      await item(about(code))
      return (await storedEntries(server.database.db)).at(-1)?.entry.purpose
    }
    expect(await audited('eligibility')).toBe('eligibility')
    expect(await audited('emergency')).toBe('emergency')
    for (const more of [{}, { basis: 'law', purposes: [] } as const]) {
      expect(await audited('about Ada Obi, Shelter Road 5', more)).toBe('other')
    }
    expect(JSON.stringify(await storedEntries(server.database.db))).not.toContain('Shelter')
  })
})
