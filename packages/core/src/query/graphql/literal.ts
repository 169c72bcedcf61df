/** Literals of a GraphQL document as JSON, so that one reader understands the conditions of every form. */
import { exactNumber, type JsonValue, NUMBER_RULE } from '@rollcall/protocol'
import { Kind as Node, type ValueNode } from 'graphql'
import { QueryProblem } from '../query.ts'

/** The values of the variables that the operation declares, by name; those without a value are not in it. */
export type Variables = ReadonlyMap<string, JsonValue>

/**
 * One literal: enum values are strings, numbers are read by the rule of all JSON, `__proto__` is a member like any
 * other. The document's nesting is bounded before, so the recursion is.
 * @throws QueryProblem for a variable without a value and for a number that would be rounded
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
    case Node.FLOAT:
      return numberOf(node.value, path)
    case Node.LIST:
      return node.values.map((value, index) => literalToJson(value, variables, `${path}[${index}]`))
    case Node.OBJECT:
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [name.value, literalToJson(value, variables, `${path}.${name.value}`)]),
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

function numberOf(literal: string, path: string): number {
  const number = exactNumber(literal)
  if (number === null) throw new QueryProblem(path, NUMBER_RULE)
  // -0 becomes 0: they are equal, but some code distinguishes them.
  return number + 0
}
