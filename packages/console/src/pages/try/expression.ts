/** Conditions of a form as an expression (docs/query.md). */
import type { TRY } from '../../texts/try.ts'

export type OperatorName = keyof typeof TRY.operators

export interface Condition {
  readonly attribute: string
  readonly operator: OperatorName
  /** As it is typed. */
  readonly value: string
}

type Scalar = string | number | boolean

interface OperatorRow {
  /** Null: it takes no value. */
  readonly read: ((text: string, type: string) => Scalar | readonly Scalar[]) | null
}

const one: OperatorRow = { read: scalarOf }
const several: OperatorRow = {
  read: (text, type) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => scalarOf(part, type)),
}

export const OPERATORS: Readonly<Record<OperatorName, OperatorRow>> = {
  ...{ $eq: one, $ne: one, $gt: one, $gte: one, $lt: one, $lte: one },
  ...{ $in: several, $nin: several, $startsWith: one, $contains: one },
  $exists: { read: null },
}

/** What is not written as a text, by the type of the attribute. */
const READERS: Readonly<Record<string, (text: string) => Scalar>> = {
  number: numberOf,
  age: numberOf,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
}

/** What is no number stays a text: the server says what is wrong with it. */
function numberOf(text: string): Scalar {
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text
}

function scalarOf(text: string, type: string): Scalar {
  const value = text.trim()
  return READERS[type]?.(value) ?? value
}

/** All conditions must hold. */
export function expressionOf(
  conditions: readonly Condition[],
  types: ReadonlyMap<string, string>,
): Record<string, unknown> {
  const read = conditions.map(({ attribute, operator, value }) => {
    const { read: reader } = OPERATORS[operator]
    return { [attribute]: { [operator]: reader?.(value, types.get(attribute) ?? 'text') ?? true } }
  })
  const [only = {}, ...more] = read
  return more.length === 0 ? only : { $and: read }
}

/** The value at a path of a record, such as `name.surname`, as it would be typed; null: there is none that is one value. */
export function valueAt(record: unknown, path: string): string | null {
  const found = path.split('.').reduce<unknown>((value, name) => {
    const inner = Array.isArray(value) ? value[0] : value
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined
  }, record)
  return typeof found === 'string' || typeof found === 'number' || typeof found === 'boolean'
    ? String(found)
    : null
}
