import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { keeping, notify, receiver, sent, signed } from '../../test/callbacks.ts'
import { type Item, notification, path } from '../../test/notifications.ts'
import type { Received } from './callbacks.ts'
import { marksInMemory } from './high-water-marks.ts'
import type { SequenceGap } from './notifications.ts'

/** The versions that a handler got, as `uin version` in the order in which they came. */
function versionsOf(got: readonly object[]): string[] {
  return got.flatMap((callback) => {
    const { header, message } = callback as Received<'notify'>
    const { record_version } = header.meta as { record_version: Record<string, number> }
    return message.notify_event.map(({ reference_id, data }) => {
      const [{ identifier_value }] = data.reg_records.identifier as [{ identifier_value: string }]
      return `${identifier_value} ${record_version[reference_id]}`
    })
  })
}

describe('older versions of a record', () => {
  it('are left out, and acknowledged; the same version is none', async () => {
    const { got, handlers } = keeping()
    const to = receiver({ handlers })
    const send = (...items: Item[]) => sent(to, notification(items), { path })
    await send({ uin: 'A', version: 5 }, { uin: 'B', version: 6 })
    const { status } = await send({ uin: 'A', version: 4 })
    expect([status, got.length]).toEqual([200, 1])
    await send({ uin: 'A', version: 5 }, { uin: 'B', version: 2 }, { uin: 'C', version: 1 })
    await send({ uin: 'a', version: 9 }, { uin: 'A', version: 8 })
    expect(versionsOf(got)).toEqual(['A 5', 'B 6', 'A 5', 'C 1', 'a 9'])
  })

  it('of another registry are others; so is what is not handled, and what is only tried out', async () => {
    const { got, handlers } = keeping()
    let fails = true
    const failing = async (callback: Received<'notify'>) => {
      if (fails) throw new Error('not yet')
      handlers.notify?.(callback)
    }
    const to = receiver({ handlers: { ...handlers, notify: failing } })
    expect((await sent(to, notification([{ uin: 'A', version: 7 }]), { path })).status).toBe(500)
    fails = false
    await sent(to, notification([{ uin: 'A', version: 6 }]), { path })
    await sent(to, notification([{ uin: 'A', version: 99 }], { test: true }), { path })
    await sent(to, notification([{ uin: 'A', version: 7 }]), { path })
    expect(versionsOf(got)).toEqual(['A 6', 'A 99', 'A 7'])
  })

  it('are not looked for where the registry does not say the version, or the record says nobody', async () => {
    const { got, handlers } = keeping()
    const to = receiver({ handlers })
    await sent(to, signed(notify()), { path })
    await sent(to, signed(notify({ header: { meta: { record_version: 'three' } } })), { path })
    expect(got).toHaveLength(2)
  })

  it('are those of one event type: an event that was held is handled after later ones of other types', async () => {
    const { got, handlers } = keeping()
    const to = receiver({ handlers })
    for (const [type, version] of [
      ['UPDATE', 6],
      ['Death', 5],
      ['ns:org:RegistryEventType:death', 4],
      ['UPDATE', 5],
    ] as const) {
      await sent(to, notification([{ uin: 'A', version, type }]), { path })
    }
    expect(versionsOf(got)).toEqual(['A 6', 'A 5'])
  })

  it('are none where the version is not known (0)', async () => {
    const { got, handlers } = keeping()
    const to = receiver({ handlers })
    for (const version of [6, 0, 5]) await sent(to, notification([{ uin: 'A', version }]), { path })
    expect(versionsOf(got)).toEqual(['A 6', 'A 0'])
  })

  it('what was taken back is not handled again, whatever its event type', async () => {
    const { got, handlers } = keeping()
    const to = receiver({ handlers })
    const death: Item = { uin: 'A', version: 5, type: 'Death', reference_id: 'death' }
    const cancel: Item = { uin: 'A', version: 6, type: 'CANCEL', reference_id: 'cancel' }
    await sent(to, notification([death]), { path })
    await sent(to, notification([cancel], { corrects: { cancel: 'death' } }), { path })
    await sent(to, notification([death]), { path })
    await sent(to, notification([{ ...death, version: 7, reference_id: 'another' }]), { path })
    expect(versionsOf(got)).toEqual(['A 5', 'A 6', 'A 7'])
  })

  it('a handler never sees a version after a higher one of the same record', async () => {
    const item = fc.record({ uin: fc.constantFrom('A', 'B', 'C'), version: fc.integer({ min: 1, max: 6 }) })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.array(item, { maxLength: 4 }), { maxLength: 6 }), async (envelopes) => {
        const { got, handlers } = keeping()
        const to = receiver({ handlers })
        const seen = new Map<string, number>()
        const expected: string[] = []
        for (const items of envelopes) {
          await sent(to, notification(items), { path })
          for (const { uin, version } of items) {
            if (version < (seen.get(uin) ?? 0)) continue
            seen.set(uin, version)
            expected.push(`${uin} ${version}`)
          }
        }
        expect(versionsOf(got)).toEqual(expected)
      }),
      { numRuns: 40 },
    )
  })
})

it('a gap in the numbers of an address is reported once, when the next one was handled', async () => {
  const gaps: SequenceGap[] = []
  const to = receiver({ handlers: keeping().handlers, on_gap: (gap) => void gaps.push(gap) })
  let version = 0
  const send = (sequence: number, at = path) =>
    sent(to, notification([{ uin: 'A', version: ++version }], { sequence }), { path: at })
  for (const sequence of [3, 4, 7, 5, 8]) await send(sequence)
  await send(1, '/elsewhere/registry/notify')
  await send(2, '/elsewhere/registry/notify')
  expect(gaps).toEqual([{ sender_id: 'civil.example', address: path, mailbox: null, last: 4, next: 7 }])
})

it('the numbers are counted for each mailbox: several have one address, and one may move to another', async () => {
  const gaps: SequenceGap[] = []
  const to = receiver({ handlers: keeping().handlers, on_gap: (gap) => void gaps.push(gap) })
  let version = 0
  const send = (mailbox: string, sequence: number, at = path) =>
    sent(to, notification([{ uin: 'A', version: ++version }], { sequence, mailbox }), { path: at })
  for (const [mailbox, sequence] of [
    ['one', 1],
    ['two', 7],
    ['one', 2],
    ['two', 8],
  ] as const) {
    await send(mailbox, sequence)
  }
  expect(gaps).toEqual([])
  const address = '/elsewhere/registry/notify'
  await send('one', 5, address)
  expect(gaps).toEqual([{ sender_id: 'civil.example', address, mailbox: 'one', last: 2, next: 5 }])
})

it('a hook that throws does no harm', async () => {
  const on_gap = () => {
    throw new Error('no')
  }
  const to = receiver({ handlers: keeping().handlers, on_gap })
  await sent(to, notification([], { sequence: 1 }), { path })
  expect((await sent(to, notification([], { sequence: 9 }), { path })).status).toBe(200)
})

it('marks are remembered up to a number of names, those raised last', async () => {
  const marks = marksInMemory({ names: 2 })
  for (const [name, value] of [
    ['a', 1],
    ['b', 2],
    ['a', 0],
    ['c', 3],
  ] as const) {
    await marks.raise(name, value)
  }
  expect(await Promise.all(['a', 'b', 'c'].map((name) => marks.get(name)))).toEqual([1, null, 3])
})
