/** The benefit programmes of the invented country, and the persons in each. */
import type { Person } from '../people.ts'
import { type Population, RandomStream, STREAM_PURPOSES } from '../stream.ts'

/** A benefit programme. benefit_type and benefit_frequency are spelled as in IBR records. */
export interface Programme {
  readonly programme_identifier: string
  readonly programme_name: string
  readonly benefit_type: string
  readonly benefit_frequency: string
  /** The youngest and the oldest age in the programme, in completed years, both included. */
  readonly ages: readonly [number, number]
  /** The amount of one benefit, in whole units of currency. */
  readonly benefit_value: number
}

const ALL_AGES = [0, 200] as const

export const PROGRAMMES: readonly [Programme, ...Programme[]] = [
  makeProgramme('PRG-01', 'Winter Grant', '1', 'Yearly', 120),
  makeProgramme('PRG-02', 'Child Allowance', '1', 'Monthly', 35, [0, 17]),
  makeProgramme('PRG-03', 'School Meals', '3', 'Daily', 2, [6, 17]),
  makeProgramme('PRG-04', 'Old Age Support', '1', 'Monthly', 80, [65, 200]),
  makeProgramme('PRG-05', 'Public Works', '5', 'Weekly', 45, [18, 64]),
  makeProgramme('PRG-06', 'Food Voucher', '2', 'Monthly', 25),
  makeProgramme('PRG-07', 'Health Cover', '6', 'Yearly', 60),
  makeProgramme('PRG-08', 'Skills for Work', '4', 'Quarterly', 150, [16, 60]),
]

/** The programmes of a person, the same in every kind: one for most, two or three for others. */
export function programmesOf(population: Population, person: Person): [Programme, ...Programme[]] {
  const stream = new RandomStream(population, STREAM_PURPOSES.programmes, person.index)
  const open = PROGRAMMES.filter(({ ages: [from, to] }) => person.age >= from && person.age <= to)
  const first = stream.below(open.length)
  const count = stream.chance(0.7) ? 1 : stream.between(2, 3)
  const [one = PROGRAMMES[0], ...more] = [...open.slice(first), ...open.slice(0, first)]
  return [one, ...more.slice(0, count - 1)]
}

function makeProgramme(
  programme_identifier: string,
  programme_name: string,
  benefit_type: string,
  benefit_frequency: string,
  benefit_value: number,
  ages: readonly [number, number] = ALL_AGES,
): Programme {
  return { programme_identifier, programme_name, benefit_type, benefit_frequency, benefit_value, ages }
}
