/** Makes events in the lives of a population, one after the other. */
import { disability } from '../kinds/disability.ts'
import { ess } from '../kinds/ess.ts'
import { farmer } from '../kinds/farmer.ts'
import { social } from '../kinds/social.ts'
import { type Population, populationOf, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import { civilEventTypes } from './civil-life.ts'
import { ibrEventTypes } from './ibr-life.ts'
import type { LifeEvent, LifeEventType, RegistryStartState } from './life-row.ts'
import { newHouseholdMemberEventType, newPeopleEventType } from './other-lives.ts'

/** For each kind, makes its types of events. Those of one kind share what they know, such as who is married. */
const LIFE_EVENT_TYPES_BY_KIND: Readonly<Record<string, (beginning: RegistryStartState) => readonly LifeEventType[]>> = {
  civil: civilEventTypes,
  ibr: ibrEventTypes,
  ess: (beginning) => [newPeopleEventType(ess, 'enrolment', beginning)],
  social: (beginning) => [newPeopleEventType(social, 'REGISTER', beginning), newHouseholdMemberEventType(beginning)],
  disability: (beginning) => [newPeopleEventType(disability, 'REGISTER', beginning)],
  farmer: (beginning) => [newPeopleEventType(farmer, 'REGISTER', beginning)],
}

export interface LifeOptions {
  /** The seed of the events: for the same people and days, the same seed gives the same events. */
  readonly seed: number | string
  /** The seed and number of the generated documents. */
  readonly people: { readonly seed: number | string; readonly count: number }
  /** Returns the day of the events as `YYYY-MM-DD`. */
  readonly today: () => string
}

/**
 * The numbers of new documents: `runs` ranges of `each` numbers, of which the seed of the events chooses one. The first range
 * begins at `from`, or after the last existing document if that has a higher number.
 */
const NEWCOMER_NUMBER_RANGES = { from: 1_000_000, each: 1_000_000, runs: 90 } as const

/** After so many draws without an event, nobody is left to whom anything happens. */
const MOST_DRAWS_WITHOUT_EVENT = 10_000

/** Yields life events of a kind, until nobody is left. @throws RangeError at once, when the kind has no events */
export function lifeOf(kind: string, { seed, people, today }: LifeOptions): Iterable<LifeEvent> {
  const make = Object.hasOwn(LIFE_EVENT_TYPES_BY_KIND, kind) ? LIFE_EVENT_TYPES_BY_KIND[kind] : undefined
  if (make === undefined) throw new RangeError(`there are no life events for a registry of kind "${kind}"`)
  const eventPopulation = populationOf(`life ${seed}`)
  const run = new RandomStream(eventPopulation, STREAM_PURPOSES.life, 0).below(NEWCOMER_NUMBER_RANGES.runs)
  const rows = make({
    population: populationOf(people.seed),
    documents: people.count,
    next: Math.max(NEWCOMER_NUMBER_RANGES.from, people.count) + run * NEWCOMER_NUMBER_RANGES.each,
    today,
  })
  return generateLifeEvents(rows, eventPopulation)
}

function* generateLifeEvents(rows: readonly LifeEventType[], chance: Population): Generator<LifeEvent> {
  const total = rows.reduce((sum, { weight }) => sum + weight, 0)
  for (let number = 1, idle = 0; idle < MOST_DRAWS_WITHOUT_EVENT; number++) {
    const stream = new RandomStream(chance, STREAM_PURPOSES.life, number)
    let draw = stream.below(total)
    const row = rows.find(({ weight }) => {
      draw -= weight
      return draw < 0
    })
    const events = row?.happen(stream) ?? []
    idle = events.length === 0 ? idle + 1 : 0
    yield* events
  }
}
