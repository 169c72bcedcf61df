import { canonicalJson, type JsonValue, kindNamed } from '@rollcall/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { predicates } from '../../test/agreement/predicates.ts'
import { hostileQuery } from '../../test/hostile-queries.ts'
import { shown } from '../../test/query-kind.ts'
import { DEFAULT_LIMITS } from '../limits.ts'
import type { Predicate } from '../model/predicate.ts'
import { canonicalPredicate } from '../query/canonical-predicate.ts'
import { readStoredCriteria, readSubscribeCriteria } from './criteria.ts'

const kind = (name: string) => {
  const found = kindNamed(name)
  if (found === undefined) throw new Error(`no kind ${name}`)
  return found
}
const CIVIL = { kind: kind('civil'), time_zone: 'UTC' }
const SOCIAL = { kind: kind('social'), time_zone: 'UTC' }
const NOW = new Date('2026-02-03T09:15:00.000Z')
const limits = DEFAULT_LIMITS

const CRITERIA = {
  reg_event_type: 'LiveBirth',
  filter_type: 'idtype-value',
  filter: { type: 'UIN', value: 'U-44' },
  notify_record_type: 'Person',
}
const FREQUENCY = { start_time: '2026-02-01T00:00:00Z', end_time: '2027-02-01T00:00:00Z', frequency: '0 0 0 5,15 * ? *' }

const read = (criteria: unknown, registry = CIVIL) => readSubscribeCriteria(registry, criteria, limits, NOW)
const withMembers = (members: object) => read({ ...CRITERIA, ...members })
const fingerprint = (members: object) => Buffer.from(withMembers(members).fingerprint).toString('hex')

describe('subscribe_criteria', () => {
  it('are read into types, a predicate and a frequency', () => {
    const criteria = { ...CRITERIA, version: '1.0.0', reg_type: 'x:RegistryType:Civil', frequency: FREQUENCY }
    const { eventType, recordType, predicate, frequency, person, echo } = read(criteria)
    expect(eventType.name).toBe('LiveBirth')
    expect(recordType.name).toBe('Person')
    expect(shown(predicate as Predicate)).toBe('bears UIN U-44')
    expect(frequency?.cron).toBe('0 0 0 5,15 * * *')
    expect(person).toBe(true)
    expect(echo).toEqual(criteria)
  })

  it.each([
    ['idtype-value', { type: 'UIN', value: 'U-44' }, 'bears UIN U-44'],
    ['idtype-value', { identifier_type: 'UIN', identifier_value: 'U-44' }, 'bears UIN U-44'],
    [
      'expression',
      { type: 'x:QueryType:expression', value: { expression: { collection: 'Person', query: { sex: { $eq: 'female' } } } } },
      'sex eq "female"',
    ],
    ['predicate', [{ expression1: { attribute_name: 'sex', operator: 'eq', attribute_value: 'female' } }], 'sex eq "female"'],
    [
      'graphql',
      { type: 'x:QueryType:graphql', value: { expression: 'query { person(UIN: "U-44") { sex } }' } },
      'bears UIN U-44',
    ],
    ['graphql', '{ person(UIN: "U-44") { sex } }', 'bears UIN U-44'],
  ])('have a filter of the form %s, named or not: %j', (filter_type, filter, tree) => {
    for (const members of [
      { filter_type, filter },
      { filter_type: undefined, filter },
    ]) {
      expect(shown(withMembers(members).predicate as Predicate)).toBe(tree)
    }
  })

  it('may be about somebody who is not known, and about nobody in particular', () => {
    expect(withMembers({ filter: { type: 'BRN', value: 'never-seen' } }).person).toBe(true)
    expect(withMembers({ filter: { sex: 'female' } }).person).toBe(false)
    expect(withMembers({ filter: { UIN: { $in: ['U-1', 'U-2'] } } }).person).toBe(false)
    expect(withMembers({ filter: { UIN: 'U-1', sex: 'female' } }).person).toBe(true)
    expect(withMembers({ filter: { $or: [{ UIN: 'U-1' }, { sex: 'female' }] } }).person).toBe(false)
  })

  it('are about the records that are sent, whichever collection the filter names', () => {
    const published = {
      reg_event_type: 'spdci:common:RegistryEventType:NewHouseHoldMember',
      filter_type: 'expression',
      filter: {
        type: 'ns:org:QueryType:expression',
        value: { expression: { collection: 'Group', query: { location: { $eq: 'north_hills' } } } },
      },
      notify_record_type: 'Member',
    }
    const { recordType, predicate } = read(published, SOCIAL)
    expect(recordType.name).toBe('Member')
    expect(shown(predicate as Predicate)).toBe('location eq "north_hills"')
    expect(() => read({ ...published, filter: { collection: 'Person2', query: { sex: 'F' } } }, SOCIAL)).toThrow(
      'subscribe_criteria.filter.collection: must be one of Member, Group',
    )
  })

  it('may have no filter, as far as they go', () => {
    const { predicate, person } = withMembers({ filter: undefined, filter_type: undefined })
    expect(predicate).toBeNull()
    expect(person).toBe(false)
  })

  it('are read again from their stored text, within any bounds of an earlier time', () => {
    const values = Array.from({ length: 2_000 }, (_, index) => `U-${index}`)
    const bounds = { ...limits, query_values: 2_000 }
    const criteria = { ...CRITERIA, filter: { UIN: { $in: values } } }
    const { text, predicate } = readSubscribeCriteria(CIVIL, criteria, bounds, NOW)
    const compiled = readStoredCriteria(CIVIL.kind, text)
    expect(compiled.predicate).toEqual(predicate)
    expect(compiled.eventType.name).toBe('LiveBirth')
    expect(compiled.recordType.name).toBe('Person')
  })

  it('mean, read again with the whole kind, only the identifier types of the grant that was valid', () => {
    const identifier_types = CIVIL.kind.identifier_types.filter(({ name }) => name === 'UIN' || name === 'MOBILE')
    const narrow = { ...CIVIL, kind: { ...CIVIL.kind, identifier_types, unlisted_identifiers: false as const } }
    const criteria = { ...CRITERIA, filter_type: 'expression', filter: { identifier: '5551234' } }
    const again = (text: string) => shown(readStoredCriteria(CIVIL.kind, text).predicate as Predicate)
    const { text, fingerprint: made } = read(criteria, narrow)
    expect(again(text)).toBe('bears UIN 5551234 or MOBILE 5551234')
    expect(made).not.toEqual(read(criteria).fingerprint)
    // Without such a grant, and in criteria that an earlier version stored, an identifier has any type.
    expect(read({ ...criteria, granted_identifier_types: ['UIN'] }).text).toBe(canonicalJson(criteria))
    expect(again(canonicalJson(criteria))).toBe(shown(read(criteria).predicate as Predicate))
  })
})

describe('refused with', () => {
  const TYPES = 'LiveBirth, Death, FetalDeath, Marriage, Divorce, Adoption, REGISTER, UPDATE'
  it.each<[string, string, unknown]>([
    ['rjct.notify_types.invalid', `reg_event_type: must be one of ${TYPES}`, { reg_event_type: 'left_the_country' }],
    ['rjct.notify_types.invalid', `reg_event_type: must be one of ${TYPES}`, { reg_event_type: undefined }],
    ['rjct.notify_types.invalid', `reg_event_type: must be one of ${TYPES}`, { reg_event_type: 7 }],
    ['rjct.notify_types.invalid', 'notify_record_type: must be one of Person', { notify_record_type: 'Group' }],
    ['rjct.notify_types.invalid', 'notify_record_type: must be one of Person', { notify_record_type: undefined }],
    ['rjct.notify_types.invalid', 'notify_record_type: must be one of Person', { notify_record_type: ['Person'] }],
    [
      'rjct.person_id.invalid',
      'filter.value: must be a string of 1 to 256 characters or a whole number',
      { filter: { type: 'UIN', value: '' } },
    ],
    [
      'rjct.person_id.invalid',
      'filter.value: must be a string of 1 to 256 characters or a whole number',
      { filter: { type: 'UIN', value: { x: 1 } } },
    ],
    ['rjct.person_id.invalid', 'filter.type: must be one of UIN, BRN', { filter: { type: 'PASSPORT', value: 'P-1' } }],
    [
      'rjct.person_id.invalid',
      'filter.identifier_type: must be one of UIN, BRN',
      { filter: { identifier_type: 'X', identifier_value: 'P-1' } },
    ],
    ['rjct.person_id.invalid', 'must be a string of 1 to 256 characters', { filter: { UIN: { $eq: '' } } }],
    ['rjct.notify_details.invalid', 'filter: must be an object or an array', { filter: null }],
    ['rjct.notify_details.invalid', 'filter: must be an object or an array', { filter: 7 }],
    ['rjct.notify_details.invalid', 'filter: must be an object or an array', { filter: undefined }],
    ['rjct.notify_details.invalid', 'filter: ', { filter: {} }],
    ['rjct.notify_details.invalid', 'filter: must be GraphQL or JSON text', { filter: 'sex = female' }],
    ['rjct.notify_details.invalid', 'filter: ', { filter: '{ person(' }],
    [
      'rjct.notify_details.invalid',
      'is no attribute that this participant may ask about; those of Person are',
      { filter: { shoe_size: 43 } },
    ],
    ['rjct.notify_details.invalid', 'filter.sex', { filter: { sex: { $regex: 'f.*' } } }],
    ['rjct.notify_details.invalid', 'filter_type: must be one of', { filter_type: 'sql' }],
    [
      'rjct.notify_details.invalid',
      'query: is not read; write the query into subscribe_criteria.filter',
      { query: { type: 'UIN', value: '1' } },
    ],
    ['rjct.notify_details.invalid', 'filters: is not read', { filters: [] }],
    ['rjct.notify_details.invalid', 'frequancy: is not known; frequency may be meant', { frequancy: FREQUENCY }],
    [
      'rjct.notify_details.invalid',
      'frequency.frequency: must have 5, 6 or 7 fields',
      { frequency: { ...FREQUENCY, frequency: '* *' } },
    ],
    ['rjct.notify_details.invalid', 'frequency: must be an object', { frequency: 'daily' }],
    [
      'rjct.notify_details.invalid',
      'reg_type: this registry is ns:org:RegistryType:Civil',
      { reg_type: 'ns:org:RegistryType:IBR' },
    ],
    ['rjct.notify_details.invalid', 'version: must be 1.0.0', { version: '2.0.0' }],
    ['rjct.notify_details.invalid', 'authorize', { authorize: { purpose: 7 } }],
  ])('%s: %s', (code, message, members) => {
    const reading = () => withMembers(members as object)
    expect(reading).toThrow(expect.objectContaining({ code }))
    expect(reading).toThrow(message)
    expect(reading).toThrow('subscribe_criteria')
  })

  it.each([undefined, null, [], 'x', 7])('rjct.notify_details.invalid: criteria that are %j', (criteria) => {
    const reading = () => read(criteria)
    expect(reading).toThrow(expect.objectContaining({ code: 'rjct.notify_details.invalid' }))
    expect(reading).toThrow('subscribe_criteria: must be an object')
  })

  it('a code and a rule, whatever the filter is, and never with one of its values', () => {
    fc.assert(
      fc.property(hostileQuery, fc.constantFrom(undefined, 'expression', 'graphql'), (filter, filter_type) => {
        // Only filters that the reader of JSON accepts.
        fc.pre(isCanonical(filter))
        try {
          const { predicate, text } = withMembers({ filter, filter_type })
          if (predicate === null) throw new Error('it was passed over')
          const again = readStoredCriteria(CIVIL.kind, text).predicate
          expect(again && canonicalPredicate(again)).toBe(canonicalPredicate(predicate))
        } catch (error) {
          expect(error).toMatchObject({
            name: 'ItemRejection',
            code: expect.stringMatching(/^rjct\.(notify_details|person_id)\.invalid$/),
            message: expect.stringMatching(/^subscribe_criteria\.filter/),
          })
        }
      }),
      { numRuns: 1_000 },
    )
    const secret = () => withMembers({ filter: { type: 'UIN', value: { SECRET: 'SECRET' } } })
    expect(secret).toThrow(expect.objectContaining({ message: expect.not.stringContaining('SECRET') }))
  })
})

function isCanonical(value: JsonValue): boolean {
  try {
    return canonicalJson(value) !== ''
  } catch {
    return false
  }
}

describe('the fingerprint', () => {
  const same = fingerprint({})

  it('is stored, so no version may change it', () => {
    expect(same).toBe('35013273189fd139d5e7358c9daa05761390b6b1a2ebdc0bb4adf103c905961e')
  })

  it.each<[string, object]>([
    ['another form of the filter', { filter: { identifier_type: 'uin', identifier_value: 'u-44' } }],
    ['a filter_type that is left out', { filter_type: undefined }],
    ['another spelling of the event type', { reg_event_type: 'x:RegistryEventType:birth' }],
    ['reg_type and version', { reg_type: 'ns:org:RegistryType:Civil', version: '1.0.0' }],
    ['consent', { authorize: { purpose: { text: 'care' } } }],
  ])('is not changed by %s', (_, members) => {
    expect(fingerprint(members)).toBe(same)
  })

  const held = fingerprint({ frequency: FREQUENCY })
  it.each<[string, object]>([
    ['its end', { end_time: '2028-02-01T00:00:00Z' }],
    ['another spelling of its start', { start_time: '2026-02-01T03:00:00+03:00' }],
    ['another spelling of its expression', { frequency: '0 0 15,5 * *' }],
  ])('of a frequency is not changed by %s', (_, members) => {
    expect(fingerprint({ frequency: { ...FREQUENCY, ...members } })).toBe(held)
  })

  it.each<[string, object]>([
    ['the filter', { filter: { type: 'UIN', value: 'U-45' } }],
    ['a frequency', { frequency: FREQUENCY }],
    ['no filter', { filter: undefined, filter_type: undefined }],
  ])('is changed by %s', (_, members) => {
    expect(fingerprint(members)).not.toBe(same)
  })

  it.each<[string, object]>([
    ['its start', { start_time: '2026-02-02T00:00:00Z' }],
    ['its expression', { frequency: 'daily' }],
  ])('of a frequency is changed by %s', (_, members) => {
    expect(fingerprint({ frequency: { ...FREQUENCY, ...members } })).not.toBe(held)
  })
})

describe('the canonical text of a predicate', () => {
  const [person] = CIVIL.kind.record_types

  it.each([
    [
      { sex: 'F', surname: 'Abel' },
      { surname: 'abel', sex: 'female' },
    ],
    [{ $or: [{ sex: 'F' }, { sex: 'M' }, { sex: 'F' }] }, { $or: [{ sex: 'M' }, { sex: 'F' }] }],
    [{ $or: [{ sex: 'F' }, { $or: [{ sex: 'M' }, { surname: 'x' }] }] }, { $or: [{ surname: 'x' }, { sex: 'M' }, { sex: 'F' }] }],
    [{ $and: [{ sex: 'F' }] }, { sex: 'F' }],
    [{ surname: { $in: ['b', 'a', 'a'] } }, { surname: { $in: ['a', 'b'] } }],
    [{ surname: { $in: ['b'] } }, { surname: 'b' }],
    [{ $not: { $not: { sex: 'F' } } }, { sex: 'F' }],
  ])('is the same of %j and %j', (one, other) => {
    const text = (filter: object) => canonicalPredicate(withMembers({ filter }).predicate as Predicate)
    expect(text(one)).toBe(text(other))
  })

  it('does not depend on the order of parts', () => {
    const turned = (predicate: Predicate): Predicate =>
      predicate.is === 'and' || predicate.is === 'or'
        ? { ...predicate, of: predicate.of.map(turned).toReversed() }
        : predicate.is === 'not'
          ? { ...predicate, of: turned(predicate.of) }
          : predicate
    fc.assert(
      fc.property(predicates(CIVIL.kind, person), (predicate) => {
        expect(canonicalPredicate(turned(predicate))).toBe(canonicalPredicate(predicate))
      }),
    )
  })

  it('tells apart what is shown differently, but for order, repetition and brackets', () => {
    const leaf = fc.constantFrom(...['sex', 'surname', 'marital_status'].map((name) => ({ [name]: 'x' })))
    fc.assert(
      fc.property(leaf, leaf, fc.constantFrom('$and', '$or'), fc.boolean(), (one, other, word, negated) => {
        const text = (filter: object) => canonicalPredicate(withMembers({ filter }).predicate as Predicate)
        const tree = { [word]: [one, other] }
        const isOne = JSON.stringify(one) === JSON.stringify(other)
        expect(text(tree) === text(one)).toBe(isOne)
        expect(text(negated ? { $not: tree } : tree) === text(tree)).toBe(!negated)
      }),
    )
  })
})
