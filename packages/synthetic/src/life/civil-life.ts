/** Events of a civil registry: births, deaths, marriages, divorces, moves and corrections. */
import { identifier, JSON_LD_CONTEXT } from '../kinds/parts.ts'
import { givenName } from '../names.ts'
import { identifierNumber } from '../numbers.ts'
import type { Person } from '../people.ts'
import { civilAddress, drawDwelling } from '../places.ts'
import type { RandomStream } from '../stream.ts'
import type { LifeEvent, LifeEventType, RegistryStartState } from './life-row.ts'
import { LivingPeople } from './society.ts'

/**
 * Makes the types of events of a civil registry. They share one `LivingPeople`, so that nobody who has died is married
 * afterwards.
 */
export function civilEventTypes(beginning: RegistryStartState): readonly LifeEventType[] {
  const { population, today } = beginning
  const society = new LivingPeople(beginning)
  /** Makes an event that has new values for members of a person's record. @param more identifiers besides the UIN */
  const makeChangeEvent = (reg_event_type: string, index: number, members: object, more: object[] = []): LifeEvent => {
    const { uin } = society.person(index)
    const record = { '@type': 'CRVS_Person', identifier: [identifier('UIN', uin), ...more], ...members }
    return { reg_event_type, record }
  }
  const anybody = (
    stream: RandomStream,
    happen: (index: number, person: Person) => readonly LifeEvent[],
    fits?: (index: number) => boolean,
  ): readonly LifeEvent[] => {
    const index = society.anybody(stream, fits)
    return index === null ? [] : happen(index, society.person(index))
  }

  const birth = (stream: RandomStream): readonly LifeEvent[] =>
    anybody(
      stream,
      (_, mother) => {
        const child = society.person(society.bear())
        const given_name = givenName(stream, mother.household.culture, child.sex)
        const name = { '@type': 'Name', surname: mother.name.surname, given_name }
        return [{ reg_event_type: 'LiveBirth', record: newbornRecord(child, mother, name, today()) }]
      },
      (index) => society.isAdult(index) && society.person(index).sex === 'female',
    )

  const death = (stream: RandomStream): readonly LifeEvent[] =>
    anybody(stream, (index, { household }) => {
      const widowed = society.bury(index)
      const drn = identifier('DRN', identifierNumber(population, 'DRN', index))
      const died = { death_date: today(), death_place: household.home.locality }
      const events = [makeChangeEvent('Death', index, died, [drn])]
      return widowed === null ? events : [...events, makeChangeEvent('UPDATE', widowed, { marital_status: 'W' })]
    })

  const marriage = (stream: RandomStream): readonly LifeEvent[] => {
    const isFree = (index: number): boolean => society.isAdult(index) && society.isSingle(index)
    const one = society.anybody(stream, isFree)
    const other = society.anybody(stream, (index) => index !== one && isFree(index))
    if (one === null || other === null) return []
    const { both, number } = society.marry(one, other)
    const mrn = identifier('MRN', identifierNumber(population, 'MRN', number))
    const married = { marriage_date: today(), marital_status: 'M' }
    return both.map((index) => makeChangeEvent('Marriage', index, married, [mrn]))
  }

  const divorce = (stream: RandomStream): readonly LifeEvent[] =>
    (society.divorce(stream)?.both ?? []).map((index) =>
      makeChangeEvent('Divorce', index, { divorce_date: today(), marital_status: 'D' }),
    )

  const move = (stream: RandomStream): readonly LifeEvent[] =>
    anybody(stream, (index) => {
      return [makeChangeEvent('UPDATE', index, { address: civilAddress(drawDwelling(stream), false) })]
    })

  const correction = (stream: RandomStream): readonly LifeEvent[] =>
    anybody(stream, (index, { household, sex }) => {
      const given_name = givenName(stream, household.culture, sex)
      return [makeChangeEvent('UPDATE', index, { name: { given_name } })]
    })

  return [
    { name: 'births', weight: 36, happen: birth },
    { name: 'deaths', weight: 16, happen: death },
    { name: 'marriages', weight: 10, happen: marriage },
    { name: 'divorces', weight: 3, happen: divorce },
    { name: 'moves', weight: 22, happen: move },
    { name: 'corrections', weight: 13, happen: correction },
  ]
}

const newbornRecord = (child: Person, mother: Person, name: object, today: string): object => ({
  '@context': JSON_LD_CONTEXT,
  '@id': `urn:rollcall:synthetic:${child.uin}`,
  '@type': 'CRVS_Person',
  identifier: [identifier('UIN', child.uin), identifier('BRN', child.brn)],
  name,
  sex: child.sex,
  birth_date: today,
  address: civilAddress(mother.household.home, false),
  marital_status: 'S',
  parent1_identifier: identifier('UIN', mother.uin),
  registration_date: `${today}T00:00:00Z`,
})
