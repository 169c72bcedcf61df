import { kindNamed, type RecordType } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { makeEventExamples } from './event-offers.ts'

function kindOf(name: string) {
  const kind = kindNamed(name)
  if (kind === undefined) throw new Error('there is such a kind')
  return { kind, types: kind.record_types as readonly RecordType[] }
}

const PEOPLE = [
  { name: 'adult', birth_date: '2002-09-02', registration_date: '2002-10-29T02:54:02Z' },
  { name: 'dead', birth_date: '1930-01-01', death_date: '2001-01-01' },
  { name: 'married', birth_date: '1952-04-01', marriage_date: '1971-05-18', spouse: 1 },
  { name: 'undated' },
  { name: 'old', birth_date: '1940-04-01' },
  { name: 'child', birth_date: '2025-10-31', registration_date: '2025-11-02T00:00:00Z' },
]

test('each civil event is offered somebody whom it fits, without the dates that it needs', () => {
  const { kind, types } = kindOf('civil')
  const [person] = types
  if (person === undefined) throw new Error('it has a record type')
  const offers = makeEventExamples(kind, person, PEOPLE)
  const said = offers.map(({ event_type, record, needs }) => [event_type, ...[record.name, needs.map(({ path }) => path).join()]])
  expect(said).toEqual([
    ['LiveBirth', 'child', 'birth_date,registration_date'],
    ['Death', 'old', 'death_date'],
    ['FetalDeath', 'child', 'birth_date,death_date'],
    ['Marriage', 'old', 'marriage_date'],
    ['Divorce', 'married', 'divorce_date'],
    ['Adoption', 'child', ''],
    ['REGISTER', 'adult', ''],
    ['UPDATE', 'adult', ''],
  ])
  const [birth] = offers
  expect(birth?.record).toEqual({ name: 'child' })
  expect(PEOPLE.at(-1)).toHaveProperty('birth_date')
})

test('an event is offered records of the types that it is of, and nobody where nobody fits', () => {
  const { kind, types } = kindOf('social')
  expect(types.map((type) => makeEventExamples(kind, type, [{}]).map(({ event_type }) => event_type))).toEqual([
    ['REGISTER'],
    ['REGISTER', 'NewHouseHoldMember'],
  ])
  const civil = kindOf('civil')
  const [person] = civil.types
  if (person === undefined) throw new Error('it has a record type')
  const offered = makeEventExamples(civil.kind, person, [{ death_date: '2001-01-01' }])
  expect(offered.map(({ event_type }) => event_type)).toEqual(['REGISTER', 'UPDATE'])
})
