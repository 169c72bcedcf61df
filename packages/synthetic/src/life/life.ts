/** Makes events in the lives of a population, one after the other. */
import { disability } from '../kinds/disability.ts'
import { ess } from '../kinds/ess.ts'
import { farmer } from '../kinds/farmer.ts'
import { social } from '../kinds/social.ts'
import { type Population, populationOf, RandomStream, STREAM_PURPOSES } from '../stream.ts'
import { civilLife } from './civil-life.ts'
import { ibrLife } from './ibr-life.ts'
import type { LifeBeginning, LifeEvent, LifeRow } from './life-row.ts'
import { newMembersOfHouseholds, newPeople } from './other-lives.ts'

/** For each kind, makes its types of events. Those of one kind share what they know, such as who is married. */
const LIFE_ROWS_BY_KIND: Readonly<Record<string, (beginning: LifeBeginning) => readonly LifeRow[]>> = {
  civil: civilLife,
  ibr: ibrLife,
  ess: (beginning) => [newPeople(ess, 'enrolment', beginning)],
  social: (beginning) => [newPeople(social, 'REGISTER', beginning), newMembersOfHouseholds(beginning)],
  disability: (beginning) => [newPeople(disability, 'REGISTER', beginning)],
  farmer: (beginning) => [newPeople(farmer, 'REGISTER', beginning)],
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
 * New documents get numbers from `from` on, or behind the existing documents when these are more. The seed of the events chooses
 * one of `runs` ranges of `each` numbers.
 */
const NEWCOMER_NUMBER_RANGES = { from: 1_000_000, each: 1_000_000, runs: 90 } as const

/** Yields life events of a kind without end. @throws RangeError at once, when the kind has no events */
export function lifeOf(kind: string, { seed, people, today }: LifeOptions): Iterable<LifeEvent> {
  const make = Object.hasOwn(LIFE_ROWS_BY_KIND, kind) ? LIFE_ROWS_BY_KIND[kind] : undefined
  if (make === undefined) throw new RangeError(`there are no life events for a registry of kind "${kind}"`)
  const chance = populationOf(`life ${seed}`)
  const run = new RandomStream(chance, STREAM_PURPOSES.life, 0).below(NEWCOMER_NUMBER_RANGES.runs)
  const rows = make({
    population: populationOf(people.seed),
    documents: people.count,
    next: Math.max(NEWCOMER_NUMBER_RANGES.from, people.count) + run * NEWCOMER_NUMBER_RANGES.each,
    today,
  })
  return generateLifeEvents(rows, chance)
}

function* generateLifeEvents(rows: readonly LifeRow[], chance: Population): Generator<LifeEvent> {
  const total = rows.reduce((sum, { weight }) => sum + weight, 0)
  for (let number = 1; ; number++) {
    const stream = new RandomStream(chance, STREAM_PURPOSES.life, number)
    let draw = stream.below(total)
    const row = rows.find(({ weight }) => {
      draw -= weight
      return draw < 0
    })
    yield* row?.happen(stream) ?? []
  }
}
