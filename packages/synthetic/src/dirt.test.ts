/** The untidiness that dirt.ts promises is there, at about the rates it says. */
import { expect, test } from 'vitest'
import { ERROR_RATES } from './dirt.ts'
import { generate } from './generate.ts'

const COUNT = 6000

// biome-ignore lint/suspicious/noExplicitAny: tests look deep into documents that have no common type
type Document = any

const documents = (kind: string): Document[] => [...generate(kind, { count: COUNT, seed: 41 })]
const civil = documents('civil')
const ibr = documents('ibr')

function share(all: Document[], is: (document: Document) => unknown): number {
  return all.filter(is).length / all.length
}

/** Within a third of the expected rate. */
function expectRate(found: number, expected: number): void {
  expect(found).toBeGreaterThan(expected * 0.67)
  expect(found).toBeLessThan(expected * 1.33)
}

test('birth dates are partial, date-times, and local in the IBR', () => {
  expectRate(
    share(civil, ({ birth_date }) => /^\d{4}$/.test(birth_date)),
    ERROR_RATES.birth_year_only,
  )
  expectRate(
    share(civil, ({ birth_date }) => /^\d{4}-\d\d$/.test(birth_date)),
    ERROR_RATES.birth_month_only,
  )
  expectRate(
    share(civil, ({ birth_date }) => birth_date.includes('T')),
    ERROR_RATES.birth_date_time,
  )
  const endings = new Set(civil.map(({ birth_date }) => birth_date.slice(19)).filter(Boolean))
  expect(endings).toEqual(new Set(['Z', '+02:00', '-05:00']))
  const local = share(ibr, ({ member }) => /^\d\d\.\d\d\.\d{4}$/.test(member.demographic_info.person.birth_date))
  expectRate(local, ERROR_RATES.birth_local_spelling)
})

test('some people have one name, a given name or a surname', () => {
  expectRate(
    share(civil, ({ name }) => !name.surname || !name.given_name),
    ERROR_RATES.single_name,
  )
  expect(share(civil, ({ name }) => !name.surname)).toBeGreaterThan(0.005)
  expect(share(civil, ({ name }) => !name.given_name)).toBeGreaterThan(0.005)
})

test.each(['Arabic', 'Devanagari', 'Cyrillic', 'Ethiopic', 'Han'])('some names are in %s', (script) => {
  const letters = new RegExp(`^\\p{Script=${script}}`, 'u')
  expect(share(civil, ({ name }) => letters.test(name.given_name ?? ''))).toBeGreaterThan(0.03)
})

test('some names are not in NFC, and some are outside the Basic Multilingual Plane', () => {
  const text = ({ name }: Document) => Object.values(name).join(' ')
  expect(share(civil, (document) => text(document) !== text(document).normalize('NFC'))).toBeGreaterThan(0.02)
  expect(share(civil, (document) => /[\u{10000}-\u{10ffff}]/u.test(text(document)))).toBeGreaterThan(0.002)
})

test('telephones and email are missing, or spaced', () => {
  const phones = civil.flatMap(({ phone_number }) => phone_number ?? [])
  expect(phones.length / COUNT).toBeGreaterThan(0.6)
  expect(phones.length / COUNT).toBeLessThan(0.9)
  expectRate(
    share(phones, (phone) => /[ -]/.test(phone)),
    ERROR_RATES.spaced_phone,
  )
  expectRate(
    share(civil, ({ email }) => email),
    ERROR_RATES.email,
  )
})

test('optional members are missing, and those that do not apply are now and then ""', () => {
  expectRate(
    share(civil, ({ birth_place }) => !birth_place),
    ERROR_RATES.missing_member,
  )
  expectRate(
    share(civil, ({ marital_status }) => !marital_status),
    ERROR_RATES.missing_member,
  )
  expectRate(
    share(civil, ({ divorce_date }) => divorce_date === ''),
    ERROR_RATES.empty_string,
  )
})

test('required members of civil records are never missing', () => {
  const always = ['identifier', 'name', 'sex', 'birth_date', 'address', 'parent1_identifier', 'parent2_identifier']
  for (const document of civil) {
    for (const member of always) expect(document).toHaveProperty(member)
    expect(['female', 'male']).toContain(document.sex)
    expect(document['@type']).toBe('CRVS_Person')
  }
})

test('codes are now and then written in words', () => {
  const coded = civil.filter(({ marital_status }) => marital_status)
  expectRate(
    share(coded, ({ marital_status }) => marital_status.length > 1),
    ERROR_RATES.other_spelling,
  )
})

test('some are deceased, married or divorced, and have the numbers that go with it', () => {
  const has = (document: Document, type: string) =>
    document.identifier.some(({ identifier_type }: Document) => identifier_type === type)
  expect(share(civil, ({ death_date }) => death_date)).toBeGreaterThan(0.02)
  expect(share(civil, ({ marriage_date }) => marriage_date)).toBeGreaterThan(0.3)
  expect(share(civil, ({ divorce_date }) => divorce_date)).toBeGreaterThan(0.01)
  for (const document of civil) {
    expect(has(document, 'DRN')).toBe(Boolean(document.death_date))
    expect(has(document, 'MRN')).toBe(Boolean(document.marriage_date))
    if (document.divorce_date) expect(document.divorce_date > document.marriage_date).toBe(true)
    if (document.death_date) expect(document.last_updated >= document.death_date).toBe(true)
  }
})
