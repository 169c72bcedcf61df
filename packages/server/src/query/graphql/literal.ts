/** Literals of a GraphQL document as JSON, so that one reader understands the conditions of every form. */
import type { JsonValue } from '@rollcall/protocol'
import { Kind as Node, type ValueNode } from 'graphql'
import { QueryProblem } from '../problem.ts'

/** The values of the variables that the operation declares, by name; those without a value are not in it. */
export type Variables = ReadonlyMap<string, JsonValue>

/** 1e309 is beyond every double: a longer integer is refused before time is spent on its digits. */
const MAX_INTEGER_LENGTH = 310

/**
 * One literal: enum values are strings, an integer beyond ±(2^53−1) is a bigint and never rounded, `__proto__` is a
 * member like any other. The document's nesting is bounded before, so the recursion is.
 * @throws QueryProblem for a variable without a value and for a number too large
 */
export function literalToJson(node: ValueNode, variables: Variables, path: string): JsonValue {
  switch (node.kind) {
    case Node.NULL:
      return null
    case Node.BOOLEAN:
    case Node.ENUM:
    case Node.STRING:
      return node.value
    case Node.INT:
      return integer(node.value, path)
    case Node.FLOAT:
      return finite(Number(node.value), path)
    case Node.LIST:
      return node.values.map((value, index) => literalToJson(value, variables, `${path}[${index}]`))
    case Node.OBJECT:
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [
          name.value,
          literalToJson(value, variables, `${path}.${name.value}`),
        ]),
      )
    case Node.VARIABLE:
      return variable(node.name.value, variables, path)
  }
}

/** GraphQL leaves out what has no value; here that would drop a condition and widen the answer. */
function variable(name: string, variables: Variables, path: string): JsonValue {
  const value = variables.get(name)
  if (value === undefined) throw new QueryProblem(path, `the variable $${name} must have a value`)
  return value
}

function integer(digits: string, path: string): number | bigint {
  const number = finite(digits.length > MAX_INTEGER_LENGTH ? Infinity : Number(digits), path)
  return Number.isSafeInteger(number) ? number : BigInt(digits)
}

function finite(number: number, path: string): number {
  // No -0: it equals 0, and is told apart in some places only.
  if (Number.isFinite(number)) return number + 0
  throw new QueryProblem(path, 'must be a number that a double can hold')
}
