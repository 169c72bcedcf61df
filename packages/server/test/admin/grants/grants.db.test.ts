import { resumeSubscription } from '@rollcall/admin/events/subscription-mailbox'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { explainGrant, listExpiringGrants, listGrants, showGrantTemplate } from '@rollcall/admin/grants/grants'
import { describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { codeOf, subscribed, subscribingServer, TYPES } from '../../subscribing.ts'

const { server, newPeer } = await subscribingServer()
const { db } = server.database
const BASE = { operations: 'all', see: 'all', basis: 'law' } as const
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: Error) => `${error.name}: ${error.message}`,
  )
const whose = (sender_id: string, namespace = 'civil') => ({ sender_id, namespace })

describe('setGrant', () => {
  it('takes the place of what was granted, and is a version of its own', async () => {
    const { sender_id } = await newPeer()
    const [before] = await listGrants({ db }, whose(sender_id))
    const set = await setGrant(acting({ db }), { ...whose(sender_id), terms: BASE })
    expect(set).toMatchObject({ sender_id, namespace: 'civil', terms: BASE, valid_until: null, suspended: 0 })
    expect(set.version).toBeGreaterThan(before?.version ?? 0)
    expect(await listGrants({ db }, whose(sender_id))).toMatchObject([{ version: set.version }])
  })

  it('ends in the next second where its end is a leap second', async () => {
    const { sender_id } = await newPeer()
    const terms = { ...BASE, valid_until: '2098-12-31T23:59:60Z' }
    const { valid_until } = await setGrant(acting({ db }), { ...whose(sender_id), terms })
    expect(valid_until).toBe('2099-01-01T00:00:00.000Z')
  })

  it('stands beside one of another time, and never overlaps it', async () => {
    const { sender_id } = await newPeer()
    const until = (valid_until: string) => ({ ...BASE, valid_from: '2020-01-01T00:00:00Z', valid_until })
    const { version } = await setGrant(acting({ db }), { ...whose(sender_id), terms: until('2030-01-01T00:00:00Z') })
    const later = { ...BASE, valid_from: '2030-01-01T00:00:00Z' }
    await setGrant(acting({ db }), { ...whose(sender_id), terms: later, beside: true })
    expect(await listGrants({ db }, whose(sender_id))).toHaveLength(2)
    expect(
      await refused(setGrant(acting({ db }), { ...whose(sender_id), terms: until('2029-01-01T00:00:00Z'), beside: true })),
    ).toBe(`AdminRefusal: valid_from: overlaps grant ${version}; at any time a participant has one grant in a registry`)
  })

  it.each([
    ['an unknown member', { ...BASE, colour: 'blue' }, 'terms.colour: is not a known member'],
    [
      'an unknown attribute',
      { ...BASE, see: ['shoe_size'] },
      'terms.see: shoe_size is no attribute, relation or member of Person',
    ],
    [
      'an end before the beginning',
      { ...BASE, valid_from: '2030-01-01T00:00:00Z', valid_until: '2029-01-01T00:00:00Z' },
      'terms.valid_until: must be later than valid_from, and than now',
    ],
    [
      'a time that is over',
      { ...BASE, valid_from: '2020-01-01T00:00:00Z', valid_until: '2021-01-01T00:00:00Z' },
      'terms.valid_until: must be later than valid_from, and than now',
    ],
    ['no basis', { operations: 'all', see: 'all' }, 'terms.basis: is required'],
  ])('refuses %s', async (_, terms, message) => {
    const { sender_id } = await newPeer()
    // biome-ignore lint/suspicious/noExplicitAny: what an operator may write
    expect(await refused(setGrant(acting({ db }), { ...whose(sender_id), terms: terms as any }))).toBe(`AdminRefusal: ${message}`)
  })

  it('names who and what there is not', async () => {
    const { sender_id } = await newPeer()
    expect(await refused(setGrant(acting({ db }), { ...whose('nobody'), terms: BASE }))).toContain(
      'no participant has sender_id nobody',
    )
    expect(await refused(setGrant(acting({ db }), { ...whose(sender_id, 'nowhere'), terms: BASE }))).toContain('nowhere')
    expect(await refused(showGrantTemplate({ db }, { namespace: 'civil', template: 'x' }))).toBe(
      'AdminRefusal: template: must be one of everything, eligibility, death-check, enrolment-writer',
    )
  })
})

describe('subscriptions', () => {
  const filter = { filter_type: 'expression', filter: { sex: { $eq: 'F' } } }

  it('that are not granted any more are suspended, and reported', async () => {
    const peer = await newPeer({}, { unfiltered: true })
    const code = await codeOf(server, peer, { ...TYPES.civil, ...filter })
    const [all] = await subscribed(server, peer, [{ ...TYPES.civil }])
    const state = async () =>
      (
        await db.pool.query(
          'select code, state, reason from subscription where participant = (select id from participant where sender_id = $1) order by id',
          [peer.sender_id],
        )
      ).rows
    const terms = { ...BASE, event_types: 'all', query_forms: 'all', ask: ['sex'] } as const
    expect(await setGrant(acting({ db }), { ...whose(peer.sender_id), terms })).toMatchObject({ suspended: 1 })
    const suspended = { code: all.subscriptions[0].code, state: 'suspended', reason: 'not_permitted' }
    expect(await state()).toEqual([{ code, state: 'live', reason: null }, suspended])
    // A filter about what may not be asked would answer by its notifications.
    const narrower = { ...terms, ask: ['birth_date'] }
    expect(await setGrant(acting({ db }), { ...whose(peer.sender_id), terms: narrower })).toMatchObject({ suspended: 1 })
    expect(await state()).toMatchObject([{ state: 'suspended' }, suspended])
    expect(await refused(resumeSubscription(acting({ db }), { code }))).toBe(
      'AdminRefusal: code: the grant of its participant does not allow the subscription',
    )
  })

  it('are of the granted events and filters', async () => {
    const peer = await newPeer({}, { event_types: ['Death'], ask: ['birth_date'] })
    const reject = async (criteria: object) => (await subscribed(server, peer, [criteria]))[0]
    expect(await reject({ ...TYPES.civil, ...filter })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.notify_types.invalid',
      status_reason_message: 'subscribe_criteria.reg_event_type: must be one of Death',
    })
    expect(await reject({ ...TYPES.civil, reg_event_type: 'Death', ...filter })).toMatchObject({
      status: 'rjct',
      status_reason_code: 'rjct.notify_details.invalid',
      status_reason_message: expect.stringMatching(
        /^subscribe_criteria\.filter\.sex: is no attribute that this participant may ask about; those of Person are birth_date, UIN/,
      ),
    })
  })
})

describe('filters of subscriptions', () => {
  const ANYBODY = [
    { identifier_type: { $eq: 'UIN' } },
    { UIN: { $exists: true } },
    { UIN: { $ne: '0' } },
    { $or: [{ UIN: { $eq: '1' } }, { $not: { UIN: { $eq: '1' } } }] },
  ].map((filter) => ({ ...TYPES.civil, filter_type: 'expression', filter }))
  const BY_SEX = { ...TYPES.civil, filter_type: 'expression', filter: { sex: { $eq: 'F' } } }

  it.each([
    [{ ask: 'all' }, 'this participant may not subscribe without a filter'],
    [
      { ask: [], unfiltered: true },
      'this participant may ask for identifiers by their values only: not for others than these, nor whether there is one',
    ],
    [{ query_forms: ['identifier'], ask: 'all', unfiltered: true }, 'this participant may ask by identifier only'],
  ] as const)('are no way to everybody under %j', async (terms, reason) => {
    const peer = await newPeer({}, terms)
    for (const item of await subscribed(server, peer, ANYBODY)) {
      expect(item).toMatchObject({
        status: 'rjct',
        status_reason_code: 'rjct.notify_details.invalid',
        status_reason_message: `subscribe_criteria.filter: ${reason}`,
      })
    }
    const one = { ...TYPES.civil, filter_type: 'idtype-value', filter: { type: 'UIN', value: '1' } }
    expect(await subscribed(server, peer, [one])).toMatchObject([{ status: 'succ' }])
  })

  it('are suspended when their form is not granted any more, or what finds everybody', async () => {
    const peer = await newPeer({}, { unfiltered: true })
    // The first two ask for the same.
    const made = await subscribed(server, peer, [...ANYBODY.slice(1), BY_SEX])
    expect(made.map(({ status }) => status)).toEqual(Array(4).fill('succ'))
    const terms = { ...BASE, event_types: 'all', query_forms: 'all', ask: 'all' } as const
    const set = (more: object) => setGrant(acting({ db }), { ...whose(peer.sender_id), terms: { ...terms, ...more } })
    expect(await set({ unfiltered: true })).toMatchObject({ suspended: 0 })
    expect(await set({})).toMatchObject({ suspended: 3 })
    expect(await set({ query_forms: ['identifier'] })).toMatchObject({ suspended: 1 })
  })
})

describe('revokeGrant', () => {
  it('leaves nothing, and suspends what was subscribed', async () => {
    const peer = await newPeer()
    await codeOf(server, peer, { ...TYPES.civil, filter: { type: 'UIN', value: '77' } })
    expect(await revokeGrant(acting({ db }), whose(peer.sender_id))).toEqual({
      ...whose(peer.sender_id),
      revoked: 1,
      suspended: 1,
    })
    expect(await listGrants({ db }, whose(peer.sender_id))).toEqual([])
    expect(await refused(revokeGrant(acting({ db }), whose(peer.sender_id)))).toBe(
      `AdminRefusal: ${peer.sender_id} has no grant in civil`,
    )
    expect(await refused(explainGrant({ db }, whose(peer.sender_id)))).toBe(
      `AdminRefusal: ${peer.sender_id} has no grant in force in civil: it may do nothing there`,
    )
  })
})

describe('reports', () => {
  it('name grants that end soon', async () => {
    const { sender_id } = await newPeer()
    const valid_until = new Date(Date.now() + 20 * 86_400_000).toISOString()
    await setGrant(acting({ db }), { ...whose(sender_id), terms: { ...BASE, valid_until } })
    expect(await listExpiringGrants({ db }, { days: 30 })).toMatchObject([{ sender_id, valid_until }])
    expect(await listExpiringGrants({ db }, { days: 10 })).toEqual([])
  })

  it('explain a grant name by name', async () => {
    const { sender_id } = await newPeer()
    const terms = { ...BASE, ask: ['sex'], identifier_types: ['UIN'], see: ['sex'], counts: 'none' } as const
    await setGrant(acting({ db }), { ...whose(sender_id), terms })
    expect(await explainGrant({ db }, whose(sender_id))).toMatchObject({
      asks: { Person: ['sex'] },
      asks_not: { Person: expect.arrayContaining(['birth_date', 'surname']) },
      identifier_types: ['UIN'],
      terms,
      sees: { Person: ['sex'] },
      sees_not: { Person: expect.arrayContaining(['birth_date', 'surname']) },
      sees_everything: false,
    })
  })
})
