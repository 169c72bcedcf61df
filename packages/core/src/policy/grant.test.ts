import { KINDS, type Kind } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import type { GrantTerms } from '../model/grant.ts'
import { readTerms } from './grant.ts'
import { GRANT_TEMPLATES, termsOfTemplate } from './grant-templates.ts'

const kindOf = (name: string): Kind => KINDS.find((kind) => kind.name === name) as Kind
const BASE = { operations: 'all', see: 'all', basis: 'law' } as const satisfies GrantTerms
const read = (terms: Partial<GrantTerms>, kind = 'civil') => readTerms(kindOf(kind), { ...BASE, ...terms })

describe('readTerms', () => {
  it('reads every template for every kind', () => {
    for (const kind of KINDS) {
      for (const template of GRANT_TEMPLATES) {
        expect(() => readTerms(kind, termsOfTemplate(kind, template)), `${template.name} ${kind.name}`).not.toThrow()
      }
    }
  })

  it('asks about identifiers alone unless attributes are named', () => {
    const { kind, queryForms } = read({})
    expect(kind.record_types[0].attributes).toEqual([])
    expect([...queryForms]).toEqual(['identifier'])
    expect(read({ ask: 'all' }).kind.record_types[0]).toBe(kindOf('civil').record_types[0])
  })

  it.each<[string, Partial<GrantTerms>, string, string?]>([
    ['an operation', { operations: ['search', 'enrolled'] }, 'operations: this registry has no enrolled'],
    ['a record type', { record_types: ['Group'] }, 'record_types: this registry has no Group'],
    ['no record type', { record_types: [] }, 'record_types: must name one at least'],
    ['an identifier type', { identifier_types: ['HOUSEHOLD_ID'] }, 'identifier_types: this registry has no HOUSEHOLD_ID'],
    ['an event type', { event_types: ['Wedding'] }, 'event_types: this registry has no Wedding'],
    ['an attribute', { ask: ['shoe_size'] }, 'ask: shoe_size is no attribute of Person'],
    ['an age without its date', { ask: ['age'] }, 'ask: age needs birth_date beside it'],
    ['an attribute to be seen', { see: ['shoe_size'] }, 'see: shoe_size is no attribute, relation or member of Person'],
    ['rows of a record type that there is not', { rows: { Group: {} } }, 'rows: this registry has no record type Group'],
    [
      'two queries for one record type',
      { rows: { Person: { sex: { $eq: 'F' } }, CRVSPerson: { sex: { $eq: 'M' } } } },
      'rows: has two queries for Person',
    ],
    [
      'rows of one record type of two',
      { rows: { Member: { sex: { $eq: 'F' } } } },
      'rows: must have a query for Group, which is granted too',
      'social',
    ],
    [
      'rows that ask for an age',
      { rows: { Person: { age: { $ge: 18 } } } },
      'rows.Person: asks for age, which changes from day to day; ask for birth_date',
    ],
    [
      'rows that cannot be read',
      { rows: { Person: { shoe_size: { $eq: 9 } } } },
      'rows.Person.shoe_size: is no attribute that this participant may ask about; those of Person are ',
    ],
    ['purposes for law', { purposes: ['eligibility'] }, 'purposes: is only for a basis other than law'],
    ['no purposes for consent', { basis: 'consent' }, 'purposes: must name one at least for basis consent'],
    [
      'operations without a consent',
      { basis: 'consent', purposes: ['e'], operations: 'all', see: ['sex'] },
      'operations: must be of search, txn-status, subscribe, unsubscribe, enrolled, enrolment-status, disabled, disability-details, disability-support for basis consent',
    ],
    ['a signed consent for law', { consent: 'signed' }, 'consent: is only for a basis other than law'],
    ['authorities for law', { authorities: ['https://consent.example'] }, 'authorities: is only for a basis other than law'],
    [
      'other persons under a consent',
      { basis: 'either', purposes: ['e'], operations: ['search'], see: ['sex', 'parents'] },
      'see: must not show other persons (parents) for basis either; name attributes',
    ],
    [
      'other persons under a consent, in another spelling',
      { basis: 'consent', purposes: ['e'], operations: ['search'], see: ['sex', ' x:Parents'] },
      'see: must not show other persons (parents) for basis consent; name attributes',
    ],
    [
      'another form than identifiers under a consent',
      { basis: 'consent', purposes: ['e'], operations: ['search'], see: ['sex'], query_forms: 'all' },
      'query_forms: must be identifier alone for basis consent',
    ],
    [
      'one of other forms under a consent',
      { basis: 'consent', purposes: ['e'], operations: ['search'], see: ['sex'], query_forms: ['graphql'] },
      'query_forms: must be identifier alone for basis consent',
    ],
    [
      'records of several persons under a consent',
      { basis: 'consent', purposes: ['e'], operations: ['search'], see: ['sex'] },
      'record_types: must not have Group for basis consent: the identifier of one person finds a record of several',
      'social',
    ],
    [
      'an attribute of an emergency',
      { see: [], emergency: { see: ['shoe_size'], items_per_day: 1 } },
      'emergency.see: shoe_size is no attribute, relation or member of Person',
    ],
    [
      'emergencies without searches',
      { operations: ['subscribe'], emergency: { see: [], items_per_day: 1 } },
      'emergency: needs the operation search',
    ],
    [
      'emergency as an ordinary purpose too',
      {
        basis: 'authorize',
        purposes: ['emergency'],
        operations: ['search'],
        see: ['sex'],
        emergency: { see: [], items_per_day: 1 },
      },
      'purposes: must not have emergency beside an emergency part',
    ],
  ])('refuses %s', (_, terms, message, kind) => {
    let refused = 'nothing'
    try {
      read(terms, kind)
    } catch (error) {
      refused = (error as Error).message
    }
    expect(refused.startsWith(message) ? message : refused).toBe(message)
  })

  it('makes every other way to name an attribute unknown', () => {
    const { kind } = read({ ask: ['birth_date', 'gender'], identifier_types: ['UIN'], event_types: ['Death'] })
    expect(kind.record_types[0].attributes.map(({ name }) => name)).toEqual(['sex', 'birth_date'])
    expect(kind.identifier_types.map(({ name }) => name)).toEqual(['UIN'])
    expect(kind.unlisted_identifiers).toBe(false)
    expect(kind.event_types.map(({ name }) => name)).toEqual(['Death'])
  })
})
