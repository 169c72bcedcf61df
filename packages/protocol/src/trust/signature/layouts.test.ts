import { describe, expect, test } from 'vitest'
import { ALGORITHMS, type AlgorithmSpellingPlace, findAllowedAlgorithm } from './algorithms.ts'
import { DEFAULT_SIGNATURE_PROFILE } from './layout.ts'
import { LAYOUTS, profileProblem } from './layouts.ts'
import { isPlaceholder, PLACEHOLDERS } from './problem.ts'

describe('profiles', () => {
  test('the default is a good one', () => {
    expect(profileProblem(DEFAULT_SIGNATURE_PROFILE)).toBeNull()
  })

  test.each(Object.entries(LAYOUTS))('%s with all that it carries is a good one', (layout, { algorithms }) => {
    expect(profileProblem({ ...DEFAULT_SIGNATURE_PROFILE, layout, algorithms })).toBeNull()
  })

  test.each<[string, object]>([
    ['layout must be one of "parameters", "jws", "jws-detached", "raw-rsa"', { layout: 'toString' }],
    [
      'canonical_form must be one of "rfc8785", "sorted-escaped", "sorted-unescaped", "as-received"',
      { canonical_form: undefined },
    ],
    ['digest_prefix must be one of "", "SHA-256=", "BLAKE-512="', { digest_prefix: 'MD5=' }],
    ['digest_prefix must be "" in a layout without digest', { layout: 'jws', digest_prefix: 'SHA-256=' }],
    ['algorithms must be a list of different names, one at least', { algorithms: [] }],
    ['algorithms must be a list of different names, one at least', { algorithms: 'EdDSA' }],
    ['algorithms must be a list of different names, one at least', { algorithms: ['ES256', 'ES256'] }],
    ['algorithms must be among "EdDSA", "ES256", "RS256"', { algorithms: ['none'] }],
    ['algorithms must be among those that the layout carries', { layout: 'raw-rsa' }],
  ])('%s', (problem, change) => {
    expect(profileProblem({ ...DEFAULT_SIGNATURE_PROFILE, ...change })).toBe(problem)
  })
})

describe('algorithms', () => {
  const rows = Object.values(ALGORITHMS)

  test.each<AlgorithmSpellingPlace>(['parameters', 'jws'])('a spelling in %s means one of them', (place) => {
    const spellings = rows.flatMap((row) => row.spellings[place])
    expect(new Set(spellings).size).toBe(spellings.length)
    for (const { name, spellings } of rows) {
      for (const spelling of spellings[place]) expect(findAllowedAlgorithm(spelling, place, [name])).toBe(name)
    }
  })

  test.each(['none', 'None', '', 'HS256', 'hs256', 'RS384', 'PS256', 'ES256K', 'ed448', 'constructor'])(
    '%j is none of them',
    (text) => {
      for (const place of ['parameters', 'jws'] as const) {
        expect(findAllowedAlgorithm(text, place, ['EdDSA', 'ES256', 'RS256'])).toBeNull()
      }
    },
  )

  test('one that is not allowed is none', () => {
    expect(findAllowedAlgorithm('ES256', 'jws', ['EdDSA', 'RS256'])).toBeNull()
  })
})

describe('placeholders', () => {
  test('are the closed list of 1.4, detail 6', () => {
    expect(PLACEHOLDERS.toSorted()).toEqual([
      '',
      'mock-signature',
      'new signature to be generated for request',
      'signature_validation_disabled',
      'unsigned',
      'unsigned-mock',
      'unsigned-stub',
    ])
    expect(PLACEHOLDERS.every(isPlaceholder)).toBe(true)
  })

  test.each([' ', 'Unsigned', 'unsigned ', 'none', 'toString'])('%j is none', (text) => {
    expect(isPlaceholder(text)).toBe(false)
  })
})
