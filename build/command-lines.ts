/** What may be written after `rollcall`, as a public surface: commands, their arguments, and their options with the values that they take. */
import type { Command } from 'commander'
import type { Fact, Surface } from './surface.ts'

/** @param name how the command is called, with those above it */
export function commandLineSurface(command: Command, name: string = command.name()): Surface {
  const facts: Record<string, Fact> = { [name]: input(['object'], false) }
  for (const [at, { required, argChoices, variadic }] of command.registeredArguments.entries()) {
    facts[`${name}.<${at + 1}>`] = input(valueTypes(argChoices, variadic), required)
  }
  for (const option of command.options.filter(({ hidden }) => !hidden)) {
    const { mandatory, defaultValue, optional, argChoices, variadic, short, long } = option
    const types = [
      ...(option.isBoolean() || optional ? ['boolean'] : []),
      ...(option.isBoolean() ? [] : valueTypes(argChoices, variadic)),
    ]
    for (const flag of [short, long]) {
      // A mandatory option is demanded by its long name alone: the short one is the same option.
      const isDemanded = flag === (long ?? short) && mandatory && defaultValue === undefined
      if (flag !== undefined) facts[`${name}.${flag}`] = input(types, isDemanded)
    }
  }
  const below = command.commands.map((child) => commandLineSurface(child, `${name} ${child.name()}`))
  return Object.assign(facts, ...below)
}

const input = (types: readonly string[], required: boolean): Fact => ({
  direction: 'input',
  required,
  rules: {},
  types: types.toSorted(),
})

const valueTypes = (choices: readonly string[] | undefined, variadic: boolean): readonly string[] => [
  ...(choices === undefined ? ['string'] : choices.map((choice) => JSON.stringify(choice))),
  ...(variadic ? ['array'] : []),
]
