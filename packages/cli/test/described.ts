import { validator } from '@rollcall/protocol'
import { expect } from 'vitest'

interface Described {
  readonly result: Parameters<typeof validator>[0]
}

/** What a command printed with --json, which must be what the schema of its admin function describes. */
export function described<Printed>(useCase: Described, printed: Printed): Printed {
  expect(validator(useCase.result).problem(printed, '')).toBeNull()
  return printed
}
