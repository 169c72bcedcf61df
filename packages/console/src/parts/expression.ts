/** Makes an expression (docs/query.md) from conditions of a form, and reads conditions from an expression. */
import type { TRY } from '../texts/try.ts'

export type OperatorName = keyof typeof TRY.operators

export interface Condition {
  readonly attribute: string
  readonly operator: OperatorName
  /** The value as text, in the form in which a reader types it. */
  readonly value: string
}

type Scalar = string | number | boolean

interface OperatorRow {
  /** Reads the text of a condition's value; null when the operator takes no value. */
  readonly read: ((text: string, type: string) => Scalar | readonly Scalar[]) | null
}

const ONE_VALUE_OPERATOR: OperatorRow = { read: readScalar }
const SEVERAL_VALUES_OPERATOR: OperatorRow = {
  read: (text, type) =>
    text
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '')
      .map((part) => readScalar(part, type)),
}

export const OPERATORS: Readonly<Record<OperatorName, OperatorRow>> = {
  $eq: ONE_VALUE_OPERATOR,
  $ne: ONE_VALUE_OPERATOR,
  $gt: ONE_VALUE_OPERATOR,
  $gte: ONE_VALUE_OPERATOR,
  $lt: ONE_VALUE_OPERATOR,
  $lte: ONE_VALUE_OPERATOR,
  $in: SEVERAL_VALUES_OPERATOR,
  $nin: SEVERAL_VALUES_OPERATOR,
  $startsWith: ONE_VALUE_OPERATOR,
  $contains: ONE_VALUE_OPERATOR,
  $exists: { read: null },
}

/** For each attribute type whose values are not texts, the function that reads a typed value. */
const VALUE_READERS: Readonly<Record<string, (text: string) => Scalar>> = {
  number: readNumberOrText,
  age: readNumberOrText,
  boolean: (text) => (text === 'true' || text === 'false' ? text === 'true' : text),
}

/** Reads a number. Other text stays a text: the server says what is wrong. */
function readNumberOrText(text: string): Scalar {
  return /^-?\d{1,15}(?:\.\d{1,15})?$/.test(text) ? Number(text) : text
}

function readScalar(text: string, type: string): Scalar {
  const value = text.trim()
  return VALUE_READERS[type]?.(value) ?? value
}

/** Makes an expression from conditions, in which all of them must hold. */
export function writeExpression(conditions: readonly Condition[], types: ReadonlyMap<string, string>): Record<string, unknown> {
  const read = conditions.map(({ attribute, operator, value }) => {
    const { read: reader } = OPERATORS[operator]
    return { [attribute]: { [operator]: reader?.(value, types.get(attribute) ?? 'text') ?? true } }
  })
  const [only = {}, ...more] = read
  return more.length === 0 ? only : { $and: read }
}

/** Reads the conditions of an expression, which must all hold, as typed texts; null when the form cannot show all of it. */
export function readConditions(expression: unknown): readonly Condition[] | null {
  return joinConditions(
    objectMembersOf(expression).map(([name, value]) => {
      if (name === '$and' && Array.isArray(value)) return joinConditions(value.map(readConditions))
      const compared = isScalar(value) ? [['$eq', value] as const] : objectMembersOf(value)
      return joinConditions(compared.map(([operator, operand]) => readOperatorCondition(name, operator, operand)))
    }),
  )
}

/** Joins lists of conditions; null when no list is given, or when a list is null because it could not be read. */
function joinConditions(groups: readonly (readonly Condition[] | null)[]): readonly Condition[] | null {
  const read = groups.filter((group) => group !== null)
  return read.length === 0 || read.length < groups.length ? null : read.flat()
}

/** Reads one comparison as a condition; null when the form cannot show it. `word` is the operator, with or without its `$`. */
function readOperatorCondition(attribute: string, word: string, operand: unknown): readonly Condition[] | null {
  const operator = `$${word.replace(/^\$/, '')}`
  if (!isOperator(operator)) return null
  if (OPERATORS[operator].read === null) return operand === true ? [{ attribute, operator, value: '' }] : null
  const isList = OPERATORS[operator] === SEVERAL_VALUES_OPERATOR
  const values: readonly unknown[] = isList && Array.isArray(operand) ? operand : [operand]
  // A value with a comma would be split in two when the list is read again.
  if (!values.every(isScalar) || (isList && values.some((value) => `${value}`.includes(',')))) return null
  return [{ attribute, operator, value: values.join(', ') }]
}

const isOperator = (name: string): name is OperatorName => Object.hasOwn(OPERATORS, name)

const objectMembersOf = (value: unknown): readonly (readonly [string, unknown])[] =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : []

const isScalar = (value: unknown): value is Scalar =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'

/**
 * The value at a path of a record, such as `name.surname`, as typed text; of a list on the way, the first element. Null
 * when there is no text, number or boolean.
 */
export function findValueText(record: unknown, path: string): string | null {
  const found = path.split('.').reduce<unknown>((value, name) => {
    const inner = Array.isArray(value) ? value[0] : value
    return typeof inner === 'object' && inner !== null ? (inner as Record<string, unknown>)[name] : undefined
  }, record)
  return isScalar(found) ? String(found) : null
}
