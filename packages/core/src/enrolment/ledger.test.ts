/** Updates of one person: whatever order they come in, and however often, the record ends the same. */
import { canonicalJson, type JsonObject, type JsonValue, kindNamed } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readBeneficiary } from './beneficiary.ts'
import { emptyLedger, type Ledger, type LedgerScope, mergeUpdate, nextStatusTime, recordAtTime } from './ledger.ts'
import { readLedger, writeLedger } from './ledger-text.ts'

const kind = kindNamed('ibr')
if (kind === undefined) throw new Error('there is no kind ibr')
const [recordType] = kind.record_types
const scope: LedgerScope = { kind, recordType, time_zone: 'Africa/Nairobi' }
const NOW = Date.parse('2026-06-15T09:00:00Z')

interface Update {
  readonly beneficiary: JsonObject
  readonly stamp: string
  readonly message_ts: string
}

interface State {
  readonly document: JsonObject
  readonly ledger: Ledger
}

/** The ledger goes through its text each time, as it does in the store. */
function written({ document, ledger }: State, { beneficiary, stamp, message_ts }: Update, now = NOW): State {
  const next = readLedger(writeLedger(ledger))
  const update = readBeneficiary(scope, beneficiary)
  return { document: mergeUpdate(scope, next, document, update, { stamp, message_ts }, now).document, ledger: next }
}

const all = (updates: readonly Update[], base: JsonObject = {}, now = NOW): State =>
  updates.reduce<State>((state, update) => written(state, update, now), { document: base, ledger: emptyLedger() })

const textOf = ({ document }: State) => canonicalJson(document)

let count = 0
const update = (beneficiary: JsonObject, message_ts = '2026-03-01T08:00:00.000Z'): Update => ({
  beneficiary,
  message_ts,
  stamp: `${message_ts} ${String(count++).padStart(6, '0')}`,
})

const enrolment = (programme: string, members: JsonObject = {}): JsonObject => ({
  programme: { programme_identifier: programme },
  ...members,
})
const member = (programme_identifier: JsonValue, members: JsonObject = {}): JsonObject => ({
  member: { member_identifier: 'U-1', programme_identifier, ...members },
})
const enrolments = ({ document }: State): JsonValue | undefined => (document.member as JsonObject).programme_identifier

describe('any order and any repetition of updates ends in the same record', () => {
  const scalar = fc.constantFrom<JsonValue>('a', 'b', 3, null, '', ['x'], [])
  const tree = fc.letrec<{ value: JsonValue; object: JsonObject }>((tie) => ({
    value: fc.oneof({ maxDepth: 3, withCrossShrink: true }, scalar, tie('object')),
    object: fc.dictionary(fc.constantFrom('sex', 'gender', 'n', 'spdci:n', '__proto__'), tie('value'), { maxKeys: 3 }),
  }))
  const date = fc.constantFrom(
    ...['2026-01-01', '01.01.2026', '2026-01-01T00:00:00Z', '2025-12-31T22:00:00Z', '2026-05', '2026-09-01'],
  )
  const benefit = fc.record(
    { benefit_type: fc.constantFrom('cash', '1', 'voucher'), benefit_date: date, benefit_value: fc.constantFrom('1', '2') },
    { requiredKeys: [] },
  )
  const oneOrMany = <Value extends JsonValue>(value: fc.Arbitrary<Value>): fc.Arbitrary<JsonValue> =>
    fc.oneof<fc.Arbitrary<JsonValue>[]>(value, fc.array(value, { maxLength: 2 }) as fc.Arbitrary<JsonValue>)
  const said = fc
    .record(
      {
        enrolment_status: fc.constantFrom<JsonValue>('Active', 'suspended', 4, 'GRADUATED'),
        status_change_date: date,
        enrolment_date: fc.constantFrom<JsonValue>('2026-01-01', null),
        enrollment_date: fc.constantFrom<JsonValue>('2025-01-01', ''),
        benefits: oneOrMany(benefit),
        note: tree.value,
      },
      { requiredKeys: [] },
    )
    .map(({ status_change_date, ...others }): JsonObject => {
      const dated = others.enrolment_status !== undefined && status_change_date !== undefined
      return { ...others, ...(dated && { status_change_date }) } as JsonObject
    })
  const programme = fc.tuple(fc.constantFrom('P-1', 'p-1', 'P-2'), said).map(([name, members]) => enrolment(name, members))
  const list = fc.oneof<fc.Arbitrary<JsonValue>[]>(
    programme,
    fc.constant('P-2'),
    fc.array(programme, { minLength: 1, maxLength: 3 }) as fc.Arbitrary<JsonValue>,
  )
  const identifier = fc.constantFrom('N-1', 'N-2').map((identifier_value) => ({ identifier_type: 'NID', identifier_value }))
  const person = fc
    .tuple(fc.option(identifier, { nil: {} }), fc.option(fc.array(identifier, { maxLength: 2 })), tree.object)
    .map(([own, listed, others]) => ({ ...others, ...own, ...(listed && { identifier: listed }) }) as JsonObject)
  const beneficiary = fc
    .record({ list, person: fc.option(person), others: tree.object, flat: fc.boolean(), root: fc.option(said, { nil: {} }) })
    .map(({ list, person, others, flat, root }): JsonObject => {
      const members: JsonObject = {
        situation: others,
        demographic_info: { person },
        member_identifier: 'U-1',
        ...(flat ? {} : { programme_identifier: list }),
      }
      return { '@type': 'Beneficiary', ...root, member: members, ...(flat ? { programme_identifier: list } : {}) }
    })
  const updates = fc
    .array(fc.tuple(beneficiary, fc.constantFrom('2026-03-01T08:00:00.000Z', '2026-04-01T08:00:00.000Z')), {
      minLength: 1,
      maxLength: 5,
    })
    .map((made) =>
      made.map(([one, message_ts], at): Update => {
        return { beneficiary: one, message_ts, stamp: `${message_ts} ${at}` }
      }),
    )
  const base = fc.constantFrom<JsonObject[]>(
    {},
    {
      member: {
        member_identifier: 'U-1',
        demographic_info: { person: { identifier_type: 'NID', identifier_value: 'N-9' } },
        programme_identifier: enrolment('P-1', {
          enrolment_status: 'Active',
          benefits: { benefit_type: 'cash', benefit_value: '9' },
        }),
      },
    },
    {
      member: { member_identifier: [{ identifier_type: 'UIN', identifier_value: 'U-1' }], situation: { n: { n: 1 } } },
      programme_identifier: ['P-1', enrolment('P-3')],
      enrollment_status: 'suspended',
      status_change_date: '2026-01-01',
    },
  )

  it('the same record, whether or not each update is read alone', () => {
    const order = updates.chain((made) =>
      fc.record({
        updates: fc.constant(made),
        // Every one of them, in any order, some of them again.
        shuffled: fc
          .shuffledSubarray([...made, ...made], { minLength: made.length })
          .map((some) => [...some, ...made.filter((one) => !some.includes(one))]),
      }),
    )
    fc.assert(
      fc.property(order, base, ({ updates: made, shuffled }, document) => {
        expect(textOf(all(shuffled, document))).toBe(textOf(all(made, document)))
      }),
      { numRuns: 300 },
    )
  })

  it('an update that is repeated changes neither the record nor the ledger', () => {
    fc.assert(
      fc.property(updates, base, (made, document) => {
        const once = all(made, document)
        for (const one of made) {
          const again = written(once, one)
          expect(textOf(again)).toBe(textOf(once))
          expect(writeLedger(again.ledger)).toBe(writeLedger(once.ledger))
        }
      }),
      { numRuns: 60 },
    )
  })

  it('the ledger is the same after it was text', () => {
    fc.assert(
      fc.property(updates, (made) => {
        const text = writeLedger(all(made).ledger)
        expect(writeLedger(readLedger(text))).toBe(text)
      }),
      { numRuns: 50 },
    )
  })
})

describe('statuses of an enrolment', () => {
  const status = (enrolment_status: string, status_change_date?: string) =>
    update(member(enrolment('P-1', { enrolment_status, ...(status_change_date && { status_change_date }) })))
  const shown = (state: State) => {
    const { enrolment_status, status_change_date } = enrolments(state) as JsonObject
    return [enrolment_status, status_change_date]
  }

  it('are a history: the latest date that is not in the future counts', () => {
    const [later, earlier] = [status('Suspended', '2026-05-01'), status('Active', '2026-01-01')]
    expect(shown(all([later, earlier]))).toEqual(['Suspended', '2026-05-01'])
    expect(shown(all([earlier, later, status('Graduated', '2026-04-01')]))).toEqual(['Suspended', '2026-05-01'])
  })

  it('without a date count from the time of their message', () => {
    expect(shown(all([status('Suspended'), status('Active', '2026-02-01')]))).toEqual(['Suspended', '2026-03-01T08:00:00.000Z'])
  })

  it('without a date that are sent again later move their date', () => {
    const undated = (message_ts: string) => update(member(enrolment('P-1', { enrolment_status: 'Suspended' })), message_ts)
    const [first, again] = [undated('2026-03-01T08:00:00.000Z'), undated('2026-04-01T08:00:00.000Z')]
    expect(shown(all([again, first]))).toEqual(['Suspended', '2026-04-01T08:00:00.000Z'])
  })

  it('may end before they began, where two updates say so', () => {
    const dates = (members: JsonObject) => update(member(enrolment('P-1', members)))
    const made = all([dates({ enrolment_date: '2026-03-01' }), dates({ enrolment_end_date: '2026-02-01' })])
    expect(enrolments(made)).toMatchObject({ enrolment_date: '2026-03-01', enrolment_end_date: '2026-02-01' })
  })

  it('of one date are corrected by the later message', () => {
    const [first, second] = [status('Suspended', '2026-05-01'), status('Active', '01.05.2026')]
    expect(shown(all([second, first]))).toEqual(['Active', '01.05.2026'])
  })

  it('are scheduled, and begin at midnight of the registry', () => {
    const made = all([status('Active', '2026-01-01'), status('Suspended', '2026-09-01')])
    expect(shown(made)).toEqual(['Active', '2026-01-01'])
    // Nairobi is three hours ahead.
    const midnight = Date.parse('2026-08-31T21:00:00Z')
    expect(nextStatusTime(scope, made.ledger, NOW)).toBe(midnight)
    const at = (now: number) => ({ ...made, document: recordAtTime(scope, made.ledger, made.document, now) })
    expect(shown(at(midnight - 1))).toEqual(['Active', '2026-01-01'])
    expect(shown(at(midnight))).toEqual(['Suspended', '2026-09-01'])
    expect(nextStatusTime(scope, made.ledger, midnight)).toBeNull()
  })

  it('that are scheduled at an instant begin then', () => {
    const made = all([status('Active', '2026-09-01T10:30:00+03:00')])
    expect(shown(made)).toEqual([undefined, undefined])
    expect(nextStatusTime(scope, made.ledger, NOW)).toBe(Date.parse('2026-09-01T07:30:00Z'))
  })

  it('that came with an import are entries of their own date', () => {
    const imported = member(enrolment('P-1', { enrolment_status: 'Active', status_change_date: '2026-02-01' }))
    const before = all([status('Suspended', '2026-01-01')], imported)
    expect(shown(before)).toEqual(['Active', '2026-02-01'])
    expect(shown(written(before, status('Suspended', '2026-02-01')))).toEqual(['Suspended', '2026-02-01'])
    const undated = all([status('Suspended', '2020')], member(enrolment('P-1', { enrolment_status: 'Active' })))
    expect(shown(undated)).toEqual(['Suspended', '2020'])
  })

  it.each([
    ['of the same day', '2026-02-01'],
    ['of the same day in another spelling', '01.02.2026'],
  ])('that an import or a publication has written %s stay, and later updates win', (_, date) => {
    const first = status('Suspended', '2026-02-01')
    const made = all([first])
    const imported = member(enrolment('P-1', { enrolment_status: 'Active', status_change_date: date }))
    const state = written({ ...made, document: imported }, update(member(['P-2'])))
    const statusOf = (one: State) => (enrolments(one) as JsonObject[])[0]?.enrolment_status
    expect(statusOf(state)).toBe('Active')
    expect(statusOf(written(state, first))).toBe('Active')
    expect(statusOf(written(state, status('Graduated', '2026-02-01')))).toBe('Graduated')
    const at = recordAtTime(scope, made.ledger, imported, NOW)
    expect(at).toEqual(imported)
  })

  it('of a programme that an import took out of the record do not come back; scheduled ones do', () => {
    const made = all([status('Active', '2026-01-01'), status('Suspended', '2026-09-01')])
    const state = written({ ...made, document: member('P-2') }, update(member('P-1')))
    expect((enrolments(state) as JsonObject[])[0]).toEqual(enrolment('P-1'))
    const later = recordAtTime(scope, state.ledger, state.document, Date.parse('2026-10-01'))
    expect(((later.member as JsonObject).programme_identifier as JsonObject[])[0]).toMatchObject({
      enrolment_status: 'Suspended',
    })
  })

  it('of one day: the later message wins, whether or not they have a date', () => {
    const sent = (enrolment_status: string, message_ts: string, status_change_date?: string) => {
      const members = { enrolment_status, ...(status_change_date && { status_change_date }) }
      return update(member(enrolment('P-1', members)), message_ts)
    }
    const undated = sent('Suspended', '2026-03-01T08:00:00.000Z')
    const dated = sent('Active', '2026-03-01T10:00:00.000Z', '2026-03-01')
    expect(shown(all([undated, dated]))).toEqual(['Active', '2026-03-01'])
    expect(shown(all([dated, undated]))).toEqual(['Active', '2026-03-01'])
    const last = sent('Graduated', '2026-03-01T11:00:00.000Z')
    expect(shown(all([undated, last, dated]))).toEqual(['Graduated', '2026-03-01T11:00:00.000Z'])
  })

  it('that an import has written over a ledger stand as the import says', () => {
    const made = all([status('Suspended', '2026-02-01')])
    const imported = member(enrolment('P-1', { enrolment_status: 'Active', status_change_date: '2026-03-01' }))
    const state = written({ ...made, document: imported }, update(member('P-2')))
    expect((enrolments(state) as JsonObject[])[0]).toMatchObject({ enrolment_status: 'Active' })
  })
})

describe('what an update writes', () => {
  it('merges programmes, in any published place of them', () => {
    const { document } = all([
      update(member(['P-1'])),
      update({ member: { member_identifier: 'U-1' }, programme_identifier: 'p-2', enrollment_status: 'Active' }),
    ])
    expect((document.member as JsonObject).programme_identifier).toEqual([
      enrolment('P-1'),
      enrolment('p-2', { enrolment_status: 'Active', status_change_date: '2026-03-01T08:00:00.000Z' }),
    ])
  })

  it('replaces a benefit of the same type and date, and says so', () => {
    const benefit = (benefit_type: string, benefit_value: string) =>
      update(member(enrolment('P-1', { benefits: { benefit_type, benefit_date: '2026-01-01', benefit_value } })))
    const first = all([benefit('cash', '10'), benefit('voucher', '5')])
    const { stamp, message_ts, beneficiary } = benefit('1', '20')
    const merged = mergeUpdate(
      ...([scope, first.ledger, first.document, readBeneficiary(scope, beneficiary)] as const),
      ...([{ stamp, message_ts }, NOW] as const),
    )
    expect(merged.replaced).toBe(true)
    expect(enrolments({ ...first, document: merged.document })).toMatchObject({
      benefits: [
        { benefit_type: '1', benefit_value: '20' },
        { benefit_type: 'voucher', benefit_value: '5' },
      ],
    })
  })

  it('removes a member with null, and no identifier and no enrolment', () => {
    const first = update(
      member(['P-1', 'P-2'], { occupation: 'x', identifier: [{ identifier_type: 'NID', identifier_value: 'N-1' }] }),
    )
    const second = update({
      demographic_info: null,
      member: {
        member_identifier: 'U-1',
        occupation: null,
        identifier: null,
        demographic_info: null,
        programme_identifier: 'P-1',
      },
    })
    expect(all([first, second]).document).toEqual({
      member: {
        member_identifier: 'U-1',
        identifier: [{ identifier_type: 'NID', identifier_value: 'N-1' }],
        programme_identifier: [enrolment('P-1'), enrolment('P-2')],
      },
    })
  })
})
