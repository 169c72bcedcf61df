/** Long updates, records and ledgers: the work for them grows no faster than they do. */
import { type JsonObject, kindNamed } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { processorTime } from '../../test/processor-time.ts'
import { InvalidBeneficiary, readBeneficiary } from './beneficiary.ts'
import { emptyLedger, type LedgerScope, mergeUpdate, nextStatusTime, type StatusEntry } from './ledger.ts'

const kind = kindNamed('ibr')
if (kind === undefined) throw new Error('there is no kind ibr')
const [recordType] = kind.record_types
const scope: LedgerScope = { kind, recordType, time_zone: 'Africa/Nairobi' }
const NOW = Date.parse('2026-06-15T09:00:00Z')

const times = <Value>(count: number, make: (at: number) => Value): Value[] => Array.from({ length: count }, (_, at) => make(at))
const dayAfter = (day: string, days: number): string => new Date(Date.parse(day) + days * 86_400_000).toISOString().slice(0, 10)
const benefit = (at: number): JsonObject => ({ benefit_type: 'cash', benefit_date: dayAfter('1990-01-01', at) })
const enrolment = (benefits: JsonObject | JsonObject[]): JsonObject => ({ programme: { programme_identifier: 'P-1' }, benefits })
const beneficiary = (members: JsonObject): JsonObject => ({ member: { member_identifier: 'U-1', ...members } })

describe('a beneficiary', () => {
  const ENROLMENTS = 'member.programme_identifier: must have at most 200 enrolments'
  const BENEFITS = 'benefits: must be at most 10000, counted for each enrolment that they apply to'
  it.each<[string, JsonObject, string]>([
    ['enrolments', { programme_identifier: times(201, (at) => at) }, ENROLMENTS],
    ['benefits in an enrolment', { programme_identifier: enrolment(times(10_001, benefit)) }, BENEFITS],
    ['benefits beside the enrolments', { programme_identifier: times(200, (at) => at), benefits: times(51, benefit) }, BENEFITS],
  ])('is rejected for too many %s', (_, members, message) => {
    expect(() => readBeneficiary(scope, beneficiary(members))).toThrow(new InvalidBeneficiary(message))
  })

  it('has its benefits beside the enrolments read once', () => {
    const members = { programme_identifier: times(200, (at) => at), benefits: times(50, benefit) }
    const { enrolments } = readBeneficiary(scope, beneficiary(members))
    expect(enrolments.map(({ benefits }) => benefits.elements.size)).toEqual(times(200, () => 50))
    expect(new Set(enrolments.map(({ benefits }) => benefits)).size).toBe(1)
  })
})

it('many enrolments in one programme that has many benefits are written together', () => {
  const record = beneficiary({ programme_identifier: enrolment(times(10_000, benefit)) })
  const programme_identifier = times(200, (at) => enrolment(benefit(10_000 + at)))
  const update = readBeneficiary(scope, beneficiary({ programme_identifier }))
  const message_ts = '2026-03-01T08:00:00.000Z'
  const started = processorTime()
  const { document, replaced } = mergeUpdate(scope, emptyLedger(), record, update, { stamp: message_ts, message_ts }, NOW)
  expect(processorTime() - started).toBeLessThan(1_500)
  expect(replaced).toBe(false)
  expect(document).toEqual(beneficiary({ programme_identifier: [enrolment(times(10_200, benefit))] }))
})

it('the next of many scheduled statuses is found soon', () => {
  const entry: StatusEntry = { stamp: '', status: 'Active', date: null }
  // The last instant of the year 9999 in UTC is in the year 10000 in Nairobi: as text, it sorts before the others.
  const starts = ['10000-01-01 9999-12-31T23:59:59.999Z', ...times(20_000, (at) => dayAfter('2030-01-01', at)).reverse()]
  const ledger = emptyLedger()
  ledger.programmes.set('p-1', { members: {}, benefits: {}, statuses: new Map(starts.map((from) => [from, entry])) })
  const started = processorTime()
  // Nairobi is three hours ahead.
  expect(nextStatusTime(scope, ledger, NOW)).toBe(Date.parse('2029-12-31T21:00:00Z'))
  expect(processorTime() - started).toBeLessThan(250)
})
