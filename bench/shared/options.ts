/** Options that a benchmark takes. */
import { type ParseArgsConfig, parseArgs } from 'node:util'

/** A number of a bench: as it is measured with, and in the smallest run (`--smallest`), which measures nothing. */
export type PlanNumber = readonly [usual: number, smallest: number]

const FIXED = {
  data: { type: 'string' },
  'database-url': { type: 'string' },
  'cpu-prof': { type: 'string' },
  smallest: { type: 'boolean' },
} as const

/** Where a bench runs: `bench-database.ts`. */
export type Place = ReturnType<typeof parseArgs<{ options: typeof FIXED }>>['values']

type Options = NonNullable<ParseArgsConfig['options']>

/**
 * The numbers of a bench, each an option of the command line, its place, and the values of more options.
 * Throws an Error that names an option whose value is no number.
 */
export function readOptions<Name extends string, const More extends Options = Record<never, never>>(
  args: readonly string[],
  numbers: Readonly<Record<Name, PlanNumber>>,
  more = {} as More,
) {
  const names = Object.keys(numbers) as Name[]
  const texts = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  const { values } = parseArgs({ args: [...args], options: { ...FIXED, ...more, ...texts } })
  const given: Readonly<Record<string, unknown>> = values
  const number = (name: Name): number => {
    const text = given[name]
    return typeof text === 'string' ? wholeNumber(name, text) : numbers[name][given.smallest === true ? 1 : 0]
  }
  return {
    plan: Object.fromEntries(names.map((name) => [name, number(name)])) as Readonly<Record<Name, number>>,
    place: values as Place,
    values: values as ReturnType<typeof parseArgs<{ options: More }>>['values'],
  }
}

/** A whole number of at least 1. Throws an Error that names the option. */
export function wholeNumber(option: string, text: string): number {
  const value = Number(text)
  if (Number.isSafeInteger(value) && value >= 1) return value
  throw new Error(`--${option} must be a whole number of at least 1`)
}

/** The parts that are named, all of them by default. Throws an Error for one that there is not. */
export function chosen<Part>(parts: Readonly<Record<string, Part>>, names?: readonly string[]): [string, Part][] {
  for (const name of names ?? []) {
    if (!Object.hasOwn(parts, name)) throw new Error(`--part must be one of ${Object.keys(parts).join(', ')}`)
  }
  return Object.entries(parts).filter(([name]) => names?.includes(name) ?? true)
}
