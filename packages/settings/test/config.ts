/** Configurations of tests. */
import type { Limits } from '@rollcall/core/limits'
import { type Config, readConfig } from '../src/config.ts'

/** Variables as an operator sets them, and limits by their names, also those that no variable sets. */
export interface TestSettings {
  readonly [variable: Uppercase<string>]: string
  readonly limits?: Partial<Limits>
}

export function testConfig({ limits, ...variables }: TestSettings): Config {
  const config = readConfig(variables)
  return { ...config, limits: { ...config.limits, ...limits } }
}
