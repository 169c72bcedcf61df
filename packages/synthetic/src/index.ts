/** The exports of the package that other packages use. */
export {
  COUNT_LIMIT,
  type GenerateOptions,
  generate,
  generateLines,
  KIND_GENERATORS,
  withIdentifierTypes,
} from './generate.ts'
export type { KindGenerator } from './kinds/parts.ts'
export { type LifeOptions, lifeOf } from './life/life.ts'
export type { LifeEvent } from './life/life-row.ts'
export { type Person, syntheticPerson } from './people.ts'
