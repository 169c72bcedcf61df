/** Turns literals in a GraphQL document into JSON, so that one reader can read conditions of every form. */
import { exactNumber, type JsonValue, NUMBER_RULE } from '@rollcall/protocol'
import { Kind as Node, type ValueNode } from 'graphql'
import { QueryProblem } from '../query.ts'

/** The values of the declared variables by name. A variable without a value has no entry. */
export type VariablesByName = ReadonlyMap<string, JsonValue>

/**
 * Turns a literal into JSON. An enum value becomes a string, a number is read by the rule for all JSON, and `__proto__`
 * is an ordinary member. The nesting was limited before.
 * @throws QueryProblem a variable has no value, or a number would be rounded
 */
export function literalToJson(node: ValueNode, variables: VariablesByName, path: string): JsonValue {
  switch (node.kind) {
    case Node.NULL:
      return null
    case Node.BOOLEAN:
    case Node.ENUM:
    case Node.STRING:
      return node.value
    case Node.INT:
    case Node.FLOAT:
      return readNumberLiteral(node.value, path)
    case Node.LIST:
      return node.values.map((value, index) => literalToJson(value, variables, `${path}[${index}]`))
    case Node.OBJECT:
      return Object.fromEntries(
        node.fields.map(({ name, value }) => [name.value, literalToJson(value, variables, `${path}.${name.value}`)]),
      )
    case Node.VARIABLE:
      return requireVariable(node.name.value, variables, path)
  }
}

/**
 * The value of a variable; a variable without a value is refused. GraphQL would leave out the argument instead: that would
 * drop a condition and find too much.
 */
function requireVariable(name: string, variables: VariablesByName, path: string): JsonValue {
  const value = variables.get(name)
  if (value === undefined) throw new QueryProblem(path, `the variable $${name} must have a value`)
  return value
}

function readNumberLiteral(literal: string, path: string): number {
  const number = exactNumber(literal)
  if (number === null) throw new QueryProblem(path, NUMBER_RULE)
  // -0 becomes 0, because some code distinguishes -0 from 0.
  return number + 0
}
