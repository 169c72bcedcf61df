/**
 * Parses a GraphQL text, within limits, into a valid document: one query operation, its fragments and the values of its
 * variables. What fields and arguments mean is checked elsewhere.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  GraphQLError,
  getVariableValues,
  Kind as Node,
  type OperationDefinitionNode,
  OperationTypeNode,
  parse,
  print,
  TypeInfo,
  ValidationContext,
  type VariableDefinitionNode,
  type VariableValues,
  visit,
  visitInParallel,
  visitWithTypeInfo,
} from 'graphql'
import { QueryProblem, QueryTextProblem } from '../query.ts'
import { checkTokens, DOCUMENT_RULES, GRAPHQL_SCHEMA, type GraphqlTextLimits } from './language.ts'
import type { VariablesByName } from './literal.ts'

/** The text, variables and operation name of a GraphQL query, as the message has them. */
export interface GraphqlQuery {
  readonly text: string
  /** The values of the variables, as an object; undefined or null for none. */
  readonly variables: JsonValue | undefined
  readonly operationName: string | undefined
}

/** A valid GraphQL document: the operation to answer, its fragments, and the values of its variables. */
export interface GraphqlDocument {
  readonly operation: OperationDefinitionNode
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
  /** The values of the query's variables, for arguments of fields. */
  readonly variables: VariablesByName
  /** The values of the query's variables, for the directives @include and @skip. */
  readonly directiveVariables: VariableValues
}

/** The largest number of operations and fragments in a text: the rules of GraphQL compare them with each other. */
const MAX_DEFINITIONS = 50

/** Parses and checks a query. @throws QueryProblem the text is no valid document, or no query is chosen */
export function readDocument(query: GraphqlQuery, limits: GraphqlTextLimits, path: string): GraphqlDocument {
  const parsed = parseText(query.text, limits, path)
  if (parsed.definitions.length > MAX_DEFINITIONS) {
    throw new QueryProblem(path, `must have at most ${MAX_DEFINITIONS} operations and fragments`)
  }
  const operations = queryOperationsOf(parsed, path)
  checkDocumentRules(parsed, path)
  const operation = selectGraphqlOperation(operations, query.operationName, path)
  const fragments = parsed.definitions.filter((one) => one.kind === Node.FRAGMENT_DEFINITION)
  return {
    operation,
    fragments: new Map(fragments.map((fragment) => [fragment.name.value, fragment])),
    ...readVariables(operation.variableDefinitions ?? [], query.variables, path),
  }
}

function parseText(text: string, limits: GraphqlTextLimits, path: string): DocumentNode {
  try {
    checkTokens(text, limits, path)
    return parse(text)
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error
    throw new QueryTextProblem(path, `must be a GraphQL query${errorLocationText(error)}`)
  }
}

/**
 * The position of an error as text. The message of the package `graphql` is not used: it quotes the query, which may be about a
 * person.
 */
function errorLocationText(error: GraphQLError): string {
  const [location] = error.locations ?? []
  return location === undefined ? '' : `; line ${location.line}, column ${location.column}`
}

function queryOperationsOf(document: DocumentNode, path: string): OperationDefinitionNode[] {
  return document.definitions.flatMap((definition) => {
    if (definition.kind === Node.FRAGMENT_DEFINITION) return []
    if (definition.kind === Node.OPERATION_DEFINITION && definition.operation === OperationTypeNode.QUERY) {
      return definition
    }
    throw new QueryProblem(path, 'only query operations are answered')
  })
}

/** Checks all rules in one pass through the document. @throws QueryProblem for the first rule that is broken */
function checkDocumentRules(document: DocumentNode, path: string): void {
  const types = new TypeInfo(GRAPHQL_SCHEMA)
  const visitors = DOCUMENT_RULES.map(({ rule, text }) => {
    const broken = (error: GraphQLError): never => {
      throw new QueryProblem(path, `${text}${errorLocationText(error)}`)
    }
    return rule(new ValidationContext(GRAPHQL_SCHEMA, document, types, broken, { hideSuggestions: true }))
  })
  visit(document, visitWithTypeInfo(types, visitInParallel(visitors)))
}

/** The operation with this name; without a name, the only operation. @throws QueryProblem there is no such operation */
function selectGraphqlOperation(
  operations: readonly OperationDefinitionNode[],
  name: string | undefined,
  path: string,
): OperationDefinitionNode {
  const [first, second] = operations
  if (first === undefined) throw new QueryProblem(path, 'must have a query operation')
  if (name === undefined) {
    if (second === undefined) return first
    throw new QueryProblem(path, 'operationName must say which of the operations is asked')
  }
  const named = operations.find((operation) => operation.name?.value === name)
  if (named === undefined) throw new QueryProblem(path, 'operationName must name one of the operations')
  return named
}

function readVariables(
  definitions: readonly VariableDefinitionNode[],
  given: JsonValue | undefined,
  path: string,
): Pick<GraphqlDocument, 'variables' | 'directiveVariables'> {
  const inputs = givenVariableValues(given, path)
  const declared = new Map(definitions.map((definition) => [definition.variable.name.value, definition]))
  for (const name of Object.keys(inputs)) {
    if (!declared.has(name)) {
      const known = declared.size === 0 ? 'it declares none' : [...declared.keys()].map((one) => `$${one}`).join(', ')
      throw new QueryProblem(path, `variables must be declared by the operation: ${known}`)
    }
  }
  for (const [name, definition] of declared) {
    if (getVariableValues(GRAPHQL_SCHEMA, [definition], inputs, { maxErrors: 1 }).errors !== undefined) {
      throw new QueryProblem(path, `the variable $${name} must be ${print(definition.type)}`)
    }
  }
  const { variableValues } = getVariableValues(GRAPHQL_SCHEMA, definitions, inputs)
  if (variableValues === undefined) throw new QueryProblem(path, 'variables must be of their declared types')
  return { variables: new Map(Object.entries(variableValues.coerced as JsonObject)), directiveVariables: variableValues }
}

/** The given values of the variables, in an object without a prototype, so that no variable inherits a value. */
function givenVariableValues(given: JsonValue | undefined, path: string): JsonObject {
  const inputs: JsonObject = Object.create(null)
  if (given === undefined || given === null) return inputs
  if (!isJsonObject(given)) throw new QueryProblem(path, 'variables must be an object')
  return Object.assign(inputs, given)
}
