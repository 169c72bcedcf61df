import { ENROLLED_ATTRIBUTES, type Kind, kindNamed, readEqualsQuery } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { readPersonCriteria } from './person-criteria.ts'

const LIMITS = { query_depth: 20, query_terms: 200, query_values: 1000 }
const ibr = kindNamed('ibr') as Kind
const ENROLLED = { name: 'enrolled_criteria', programme: true } as const
const read = (query: object) => readPersonCriteria(ibr, ENROLLED, { query }, LIMITS)

describe('criteria about one person', () => {
  it('mean the identifier as each type that it may be of', () => {
    expect(read({ person_identifier: { eq: ' hs 89' } })).toMatchObject({
      identifiers: [
        { type: 'UIN', value: 'HS89' },
        { type: 'NID', value: 'HS89' },
        { type: '*', value: 'HS89' },
      ],
      person: ' hs 89',
      programme: null,
    })
  })

  it('name one identifier: two values of different types are refused, one value that each type writes in its way is not', () => {
    const civil = kindNamed('civil') as Kind
    const ask = (query: object) => readPersonCriteria(civil, ENROLLED, { query }, LIMITS)
    const types = { identifier_type: { $in: ['EMAIL', 'MOBILE'] } }
    const query = { query: { ...types, identifier_value: { $in: ['a@b.org', '0712 345'] } } }
    expect(() => ask(query)).toThrow(
      expect.objectContaining({
        code: 'rjct.search_criteria.invalid',
        message:
          'enrolled_criteria.query: must name one person by one identifier with eq, and may name one programme by programme_identifier, and nothing else',
      }),
    )
    expect(ask({ identifier_value: { eq: 'tel:+254 (700) 000-001' } }).identifiers).toEqual(
      expect.arrayContaining([
        { type: 'UIN', value: 'TEL:+254(700)000-001' },
        { type: 'MOBILE', value: '254700000001' },
      ]),
    )
    expect(ask({ identifier_value: { eq: 'Ada@B.org' } }).identifiers).toEqual(
      expect.arrayContaining([
        { type: 'UIN', value: 'ADA@B.ORG' },
        { type: 'EMAIL', value: 'ada@b.org' },
      ]),
    )
  })

  it.each([
    { person_identifier: { eq: 'HS-89' } },
    { person_identifier: { $eq: 'HS-89' }, programme_identifier: { eq: 'P' } },
    { person_identifier: { eq: 4100 }, 'programme_identifier.program.programme_identifier': { eq: 'P' } },
    { person_identifier: { EQ: 'HS-89' }, 'programme_identifier.programme_identifier': { eq: 'P' } },
    { attribute_name: 'person_identifier', operator: 'eq', attribute_value: 'HS-89' },
  ])('%j is read as the receiver of the client reads it', (query) => {
    const other = readEqualsQuery(query, 'query', ENROLLED_ATTRIBUTES)
    const { person, programme } = read(query)
    expect({ person, programme }).toEqual({ person: other.person, programme: other.programme?.toLowerCase() ?? null })
  })
})
