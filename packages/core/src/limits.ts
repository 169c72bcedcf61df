/** All limits of the server, as rows: they are read, set and documented from here. */
import { LIMITS_OF_OPERATORS } from './limits-of-operators.ts'
import { LIMITS_OF_REQUESTS } from './limits-of-requests.ts'
import { LIMITS_OF_SERVICE } from './limits-of-service.ts'

interface LimitRow {
  /** The environment variable that sets it. */
  readonly variable: string
  readonly default: number
  readonly min: number
  readonly max: number
  readonly unit: string
  readonly meaning: string
}

/** The limits in `docs/limits.md`; a test compares the two. */
export const LIMITS = { ...LIMITS_OF_REQUESTS, ...LIMITS_OF_SERVICE, ...LIMITS_OF_OPERATORS } as const satisfies Record<
  string,
  LimitRow
>

export type LimitName = keyof typeof LIMITS
export type Limits = { readonly [name in LimitName]: number }

/** Limits of earlier versions, and their replacements. */
export const REPLACED_LIMITS: Readonly<Record<string, string>> = {
  ROLLCALL_OPEN_REQUEST_BYTES: 'ROLLCALL_LARGE_REQUESTS, a number of requests',
  ROLLCALL_SLOW_SEARCH: 'the extension pg_stat_statements of PostgreSQL',
}

/**
 * Reads the limits from the environment.
 * @throws Error the variable of a removed limit is set; the message names the replacement
 * @throws Error a value is not a whole number within its range; the message names the variable and the range
 */
export function readLimits(env: Readonly<Record<string, string | undefined>>): Limits {
  for (const [variable, replacement] of Object.entries(REPLACED_LIMITS)) {
    if (env[variable]) throw new Error(`${variable} is no limit any more; use ${replacement}`)
  }
  const entries = Object.entries(LIMITS).map(([name, row]: [string, LimitRow]) => [name, readLimit(row, env)])
  return Object.fromEntries(entries) as Limits
}

function readLimit(row: LimitRow, env: Readonly<Record<string, string | undefined>>): number {
  const text = env[row.variable]
  if (text === undefined || text === '') return row.default
  const value = Number(text)
  if (!Number.isInteger(value) || value < row.min || value > row.max) {
    throw new Error(`${row.variable} must be a whole number from ${row.min} to ${row.max} (${row.unit})`)
  }
  return value
}
