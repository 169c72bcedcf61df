import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { CIVIL, keeping, receiver, sent } from '../../test/callbacks.ts'
import { type Item, notification, path } from '../../test/notifications.ts'
import type { Received } from './callbacks.ts'
import { type HighWaterMarks, marksInMemory } from './high-water-marks.ts'
import { type EventContext, onEvent } from './on-event.ts'
import type { ReceiverOptions } from './receiver.ts'

describe('subscriptions that share a mailbox', () => {
  /** Events that handlers got, as `codes uin version`, with the versions that they supersede. */
  function telling(options: Partial<ReceiverOptions> = {}) {
    const told: string[] = []
    const otherwise = (record: unknown, { subscriptions, record_version, superseded }: EventContext): void => {
      const [[{ identifier_value }]] = Object.values(record as Record<string, [{ identifier_value: string }]>) as [
        [{ identifier_value: string }],
      ]
      const codes = Object.keys(subscriptions).join('+')
      told.push([codes, identifier_value, record_version, ...(superseded ? ['superseded'] : [])].join(' '))
    }
    const to = receiver({ handlers: { notify: onEvent({ otherwise }) }, ...options })
    const send = async (items: readonly Item[], more?: Parameters<typeof notification>[1]): Promise<void> => {
      expect((await sent(to, notification(items, more), { path })).status).toBe(200)
    }
    return { told, send }
  }
  const item = (codes: string, version: number, more: Partial<Item> = {}): Item => {
    return { uin: 'A', version, reference_id: `r-${version}`, codes: codes.split('+'), ...more }
  }

  it('get each what they have not had, and it says so where a later version was handled for another', async () => {
    const { told, send } = telling()
    await send([item('NOW', 3)])
    await send([item('HELD', 1), item('HELD', 2), item('HELD', 3)])
    expect(told).toEqual(['NOW A 3', 'HELD A 1 superseded', 'HELD A 2 superseded', 'HELD A 3'])
  })

  it('are named only where the item is news for them', async () => {
    const { got, handlers } = keeping()
    const to = receiver({ handlers })
    const { told, send } = telling()
    await send([item('ONE', 3)])
    await send([item('ONE+OTHER', 3), item('ONE+OTHER', 2)])
    await send([item('ONE+OTHER', 3)])
    expect(told).toEqual(['ONE A 3', 'OTHER A 3'])
    for (const codes of ['ONE', 'ONE+OTHER']) await sent(to, notification([item(codes, 3)]), { path })
    const [, last] = got as Received<'notify'>[]
    expect(last?.header.meta).toMatchObject({ subscriptions: { 'r-3': ['OTHER'] }, presence: { 'r-3': { OTHER: 'stayed' } } })
    expect(last?.superseded).toEqual([])
  })

  it('get what is taken back before they are told so', async () => {
    const { told, send } = telling()
    const death = { type: 'Death' }
    const cancel = { type: 'CANCEL' }
    const corrects = { 'r-2': 'r-1' }
    await send([item('NOW', 1, death)])
    await send([item('NOW', 2, cancel)], { corrects })
    await send([item('HELD', 1, death), item('HELD', 2, cancel)], { corrects })
    await send([item('NOW+HELD', 1, death)])
    expect(told).toEqual(['NOW A 1', 'NOW A 2', 'HELD A 1 superseded', 'HELD A 2'])
  })

  it('get siblings of one change, and what corrects another event than the last correction', async () => {
    const { told, send } = telling()
    await send([item('ONE', 5, { reference_id: 'a' }), item('ONE', 5, { reference_id: 'b' })])
    await send([item('ONE', 7, { type: 'CANCEL', reference_id: 'c' })], { corrects: { c: 'a' } })
    await send([item('ONE', 6, { type: 'CANCEL', reference_id: 'd' })], { corrects: { d: 'b' } })
    await send([item('ONE', 6, { type: 'CORRECTION', reference_id: 'e' })], { corrects: { e: 'a' } })
    expect(told).toEqual(['ONE A 5', 'ONE A 5', 'ONE A 7', 'ONE A 6 superseded'])
  })

  it('get a backfill at the version of the last event, and events that were held until after it', async () => {
    const { told, send } = telling()
    const backfill = (version: number) => send([item('ONE', version, { reference_id: `b-${version}` })], { backfill: true })
    await send([item('ONE', 1)])
    await backfill(1)
    await backfill(3)
    await send([item('ONE', 2), item('ONE', 3)])
    await backfill(2)
    expect(told).toEqual(['ONE A 1', 'ONE A 1', 'ONE A 3', 'ONE A 2 superseded', 'ONE A 3'])
  })

  it('get older items of a beneficiary registry, whose items show only what a change altered', async () => {
    const { told, send } = telling()
    const beneficiary = { reg_type: 'IBR', record_type: 'Member', type: 'enrollement_status_change' }
    const one = (version: number) => item('ONE', version, beneficiary)
    await send([one(2)])
    await send([one(1)])
    await send([one(1)])
    await send([item('ONE', 1, { ...beneficiary, reference_id: 'b-1' })], { backfill: true })
    expect(told).toEqual(['ONE A 2', 'ONE A 1 superseded', 'ONE A 1 superseded'])
  })

  it('are compared by reference_id alone where the registry does not name them', async () => {
    const { told, send } = telling()
    for (const version of [3, 2, 3]) await send([item('ONE', version, { codes: [] })])
    expect(told).toEqual([' A 3', ' A 2 superseded'])
  })

  it('are in order whatever reg_type says: the names of an item are those of the kind that fits', async () => {
    const types: unknown[] = []
    const otherwise = (_record: unknown, { record_type, event_type, record_version }: EventContext): void => {
      types.push([record_type, event_type, record_version])
    }
    const to = receiver({ handlers: { notify: onEvent({ otherwise }) } })
    for (const [reg_type, type, version] of [
      ['Individual', 'birth', 5],
      ['Population', 'LiveBirth', 4],
      ['Civil', 'live_birth', 3],
      ['Individual', 'REGISTER', 6],
    ] as const) {
      await sent(to, notification([{ uin: 'A', version, type, reg_type }]), { path })
    }
    expect(types).toEqual([
      ['Person', 'LiveBirth', 5],
      ['Person', 'REGISTER', 6],
    ])
  })

  it('are read as those of the kind that the peer has, or that a client has said', async () => {
    const types: string[] = []
    const handlers = { notify: onEvent({ otherwise: (_, { record_type }) => void types.push(record_type) }) }
    const said = receiver({ handlers, peers: [{ ...CIVIL, kind: 'disability' }] })
    said.noteKind('civil.example', 'farmer')
    const noted = receiver({ handlers })
    noted.noteKind('civil.example', 'farmer')
    for (const to of [said, noted, receiver({ handlers })]) {
      await sent(to, notification([item('ONE', 1, { type: 'REGISTER' })]), { path })
    }
    expect(types).toEqual(['DisabledPerson', 'Farmer', 'Person'])
    expect(() => receiver({ peers: [{ ...CIVIL, kind: 'other' as never }] })).toThrow(
      new TypeError('kind must be one of civil, ibr, ess, social, disability, farmer'),
    )
  })

  it('lose nothing to the marks that earlier versions have stored', async () => {
    const digest = (...parts: string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex')
    const marks = marksInMemory()
    await marks.raise(digest('record', 'civil.example', 'Person', 'UPDATE', 'A'), 9)
    await marks.raise(digest('taken back', 'civil.example', 'r-1'), 1)
    const { told, send } = telling({ marks })
    await send([item('ONE', 1), item('ONE', 2)])
    expect(told).toEqual(['ONE A 1', 'ONE A 2'])
  })

  it('have their marks read and raised together, or one by one in a store that cannot', async () => {
    const { get, raise } = marksInMemory()
    const calls: string[] = []
    const together: HighWaterMarks = {
      get(name) {
        calls.push('get')
        return get(name)
      },
      raise(name, value) {
        calls.push('raise')
        return raise(name, value)
      },
      async getAll(names) {
        calls.push('getAll')
        const values = await Promise.all(names.map(async (name) => [name, await get(name)] as const))
        return new Map(values.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])))
      },
      async raiseAll(values) {
        calls.push('raiseAll')
        for (const [name, value] of values) await raise(name, value)
      },
    }
    for (const marks of [together, { get, raise }]) {
      const { told, send } = telling({ marks })
      await send([item('ONE+OTHER', 2), item('ONE', 3)])
      await send([item('ONE+OTHER', 1)])
      expect(told).toEqual(marks === together ? ['ONE+OTHER A 2', 'ONE A 3'] : [])
    }
    // The number of the envelope is compared when it was handled.
    const envelope = ['getAll', 'raiseAll', 'get', 'raise']
    expect(calls).toEqual([...envelope, ...envelope])
  })
})
