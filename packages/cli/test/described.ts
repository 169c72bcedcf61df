import { validator } from '@rollcall/protocol'
import { expect } from 'vitest'

interface Described {
  readonly result: Parameters<typeof validator>[0]
}

/** The output of a command with --json, checked against the schema of its admin function. */
export function described<Printed>(adminFunction: Described, printed: Printed): Printed {
  expect(validator(adminFunction.result).problem(printed, '')).toBeNull()
  return printed
}
