import { kindNamed, recordTypesOf, resolveEventType } from '@rollcall/protocol'
import { describe, expect, test } from 'vitest'
import { KIND_GENERATORS } from '../generate.ts'
import { ess } from '../kinds/ess.ts'
import { syntheticPerson } from '../people.ts'
import { populationOf } from '../stream.ts'
import { lifeOf } from './life.ts'
import type { LifeEvent } from './life-row.ts'

const TODAY = '2026-11-22'

function take(kind: string, count: number, seed: number | string = 1): LifeEvent[] {
  const events: LifeEvent[] = []
  for (const event of lifeOf(kind, { seed, people: { seed: 'demo', count: 500 }, today: () => TODAY })) {
    events.push(event)
    if (events.length === count) break
  }
  return events
}

describe.each(KIND_GENERATORS.map(({ kind }) => kind))('%s', (name) => {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error('there is such a kind')
  const events = take(name, 300)

  test('lives the same for the same seed, and another life for another', () => {
    expect(take(name, 300, '1')).toEqual(events)
    expect(take(name, 300, 2)).not.toEqual(events)
  })

  test('has events and records of the kind only', () => {
    for (const { reg_event_type, record } of events) {
      expect(resolveEventType(kind, reg_event_type)?.name).toBe(reg_event_type)
      expect(recordTypesOf(kind, record)).toHaveLength(1)
    }
  })
})

interface Civil {
  readonly identifier: readonly { readonly identifier_type: string; readonly identifier_value: string }[]
  readonly [member: string]: unknown
}

test('the events end when nobody is left', () => {
  const events = [...lifeOf('civil', { seed: 1, people: { seed: 'demo', count: 5 }, today: () => TODAY })]
  const count = (type: string) => events.filter(({ reg_event_type }) => reg_event_type === type).length
  expect(count('Death')).toBe(5 + count('LiveBirth'))
})

describe('a civil registry', () => {
  const events = take('civil', 2_000)
  const of = (type: string) => events.filter(({ reg_event_type }) => reg_event_type === type).map(({ record }) => record as Civil)
  const number = ({ identifier }: Civil, type = 'UIN') =>
    identifier.find(({ identifier_type }) => identifier_type === type)?.identifier_value

  test('has births, deaths, marriages, divorces, moves and corrections, today', () => {
    const counts = ['LiveBirth', 'Death', 'Marriage', 'Divorce'].map((type) => of(type).length)
    expect(Math.min(...counts)).toBeGreaterThan(20)
    expect(of('UPDATE').filter(({ address }) => address !== undefined).length).toBeGreaterThan(200)
    expect(of('UPDATE').filter(({ name }) => name !== undefined).length).toBeGreaterThan(100)
    for (const { birth_date } of of('LiveBirth')) expect(birth_date).toBe(TODAY)
    for (const { death_date } of of('Death')) expect(death_date).toBe(TODAY)
  })

  test('nobody is born twice or dies twice, and nothing happens to the dead', () => {
    const born = of('LiveBirth').map((record) => number(record))
    expect(new Set(born).size).toBe(born.length)
    const dead = new Set<unknown>()
    for (const { reg_event_type, record } of events) {
      const uin = number(record as Civil)
      expect(dead.has(uin)).toBe(false)
      if (reg_event_type === 'Death') dead.add(uin)
    }
  })

  test('two are married and divorced at a time, with one number, and none who is married', () => {
    const married = new Map<unknown, unknown>()
    for (const { reg_event_type, record } of events) {
      const uin = number(record as Civil)
      if (reg_event_type === 'Marriage') {
        expect(married.has(uin)).toBe(false)
        married.set(uin, number(record as Civil, 'MRN'))
      }
      if (reg_event_type === 'Divorce') expect(married.delete(uin)).toBe(true)
      if (reg_event_type === 'Death') {
        const couple = married.get(uin)
        for (const [one, its] of married) if (its === couple) married.delete(one)
      }
    }
    const numbers = of('Marriage').map((record) => number(record, 'MRN'))
    for (const one of new Set(numbers)) expect(numbers.filter((other) => other === one)).toHaveLength(2)
  })

  test('a death widows the spouse, also of a couple that was there before', () => {
    const people = Array.from({ length: 500 }, (_, index) => syntheticPerson('demo', index))
    const spouses = new Map<unknown, unknown>()
    for (const { index, uin, place } of people) {
      if (place.marital_status !== 'M' || place.death_day !== null) continue
      spouses.set(uin, people[place.role === 'head' ? index + 1 : index - 1]?.uin)
    }
    let widowed = 0
    for (const [at, { reg_event_type, record }] of events.entries()) {
      const uin = number(record as Civil)
      if (reg_event_type === 'Marriage') {
        const couple = of('Marriage').filter((one) => number(one, 'MRN') === number(record as Civil, 'MRN'))
        spouses.set(
          uin,
          couple.map((one) => number(one)).find((one) => one !== uin),
        )
      }
      if (reg_event_type === 'Divorce') spouses.delete(uin)
      const [spouse, next] = [spouses.get(uin), events[at + 1]]
      if (reg_event_type !== 'Death' || spouse === undefined || next === undefined) continue
      expect([next.reg_event_type, number(next.record as Civil)]).toEqual(['UPDATE', spouse])
      expect(next.record).toMatchObject({ marital_status: 'W' })
      spouses.delete(spouse)
      widowed++
    }
    expect(widowed).toBeGreaterThan(20)
  })
})

interface Enrolled {
  readonly member: {
    readonly member_identifier: string
    readonly programme_identifier: {
      readonly programme: { readonly programme_identifier: string }
      readonly enrolment_status: string
      readonly status_change_date: string
    }
  }
}

describe('a beneficiary registry', () => {
  const events = take('ibr', 2_000)
  const changes = events.flatMap(({ reg_event_type, record }) => {
    const { member_identifier: uin, programme_identifier: enrolment } = (record as Enrolled).member
    // Documents of newcomers are whole; they may have several enrolments.
    if ('demographic_info' in (record as Enrolled).member || Array.isArray(enrolment)) return []
    const { programme, enrolment_status: status, status_change_date } = enrolment
    return [{ reg_event_type, key: `${uin} ${programme.programme_identifier}`, status, status_change_date }]
  })

  test('enrols, suspends, makes active again and ends, today', () => {
    const counts = (['1', '3', '4'] as const).map(
      (wanted) =>
        changes.filter(({ reg_event_type, status }) => reg_event_type === 'enrollement_status_change' && status === wanted)
          .length,
    )
    expect(Math.min(...counts)).toBeGreaterThan(50)
    expect(events.length - changes.length).toBeGreaterThan(300)
    for (const { status_change_date } of changes) expect(status_change_date).toBe(TODAY)
  })

  test('nobody is enrolled twice in a programme, and what has ended stays as it is', () => {
    const statuses = new Map<string, string>()
    for (const { reg_event_type, key, status } of changes) {
      const before = statuses.get(key)
      if (reg_event_type === 'enrollement') expect([before, status]).toEqual([undefined, '1'])
      expect(before).not.toBe('3')
      expect(before).not.toBe(status)
      if (status === '1' && reg_event_type !== 'enrollement') expect(before ?? '4').toBe('4')
      statuses.set(key, status)
    }
  })
})

test('the numbers of new people are behind those of all existing ones', () => {
  const count = 91_000_000
  const [event] = lifeOf('ess', { seed: 1, people: { seed: 'demo', count }, today: () => TODAY })
  const population = populationOf('demo')
  const firsts = Array.from({ length: 90 }, (_, run) => ess.document(population, count + run * 1_000_000))
  expect(firsts).toContainEqual(event?.record)
})

test('a kind without people has no life', () => {
  expect(() => lifeOf('weather', { seed: 1, people: { seed: 1, count: 1 }, today: () => TODAY })).toThrow(
    new RangeError('there are no life events for a registry of kind "weather"'),
  )
})
