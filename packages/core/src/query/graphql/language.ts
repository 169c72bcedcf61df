/**
 * The part of GraphQL that the package `graphql` checks, which is the same for all kinds. Fields and arguments are checked where
 * they are read.
 */

import {
  type ConstValueNode,
  GraphQLBoolean,
  GraphQLFloat,
  GraphQLID,
  GraphQLIncludeDirective,
  GraphQLInt,
  GraphQLScalarType,
  GraphQLSchema,
  GraphQLSkipDirective,
  GraphQLString,
  KnownArgumentNamesRule,
  KnownDirectivesRule,
  KnownFragmentNamesRule,
  Lexer,
  LoneAnonymousOperationRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  ProvidedRequiredArgumentsRule,
  Source,
  TokenKind,
  UniqueArgumentNamesRule,
  UniqueDirectivesPerLocationRule,
  UniqueFragmentNamesRule,
  UniqueInputFieldNamesRule,
  UniqueOperationNamesRule,
  UniqueVariableNamesRule,
  type ValidationRule,
  ValuesOfCorrectTypeRule,
  VariablesAreInputTypesRule,
  VariablesInAllowedPositionRule,
} from 'graphql'
import { QueryProblem } from '../query.ts'
import { literalToJson } from './literal.ts'

/** A type for variables that may have any JSON value, such as `$where: JSON`. */
const JSON_SCALAR_TYPE = new GraphQLScalarType({
  name: 'JSON',
  coerceInputValue: (value) => value,
  coerceInputLiteral: (node: ConstValueNode) => literalToJson(node, new Map(), 'variables'),
})

/** The types that a variable may have, and the directives @include and @skip. */
export const GRAPHQL_SCHEMA = new GraphQLSchema({
  types: [GraphQLString, GraphQLID, GraphQLInt, GraphQLFloat, GraphQLBoolean, JSON_SCALAR_TYPE],
  directives: [GraphQLIncludeDirective, GraphQLSkipDirective],
  assumeValid: true,
})

/** The rules of `graphql` for a valid document, each with a text for its error that quotes nothing from the query. */
export const DOCUMENT_RULES: readonly { readonly rule: ValidationRule; readonly text: string }[] = [
  { rule: UniqueOperationNamesRule, text: 'two operations must not have one name' },
  { rule: LoneAnonymousOperationRule, text: 'an operation without a name must be the only one' },
  { rule: UniqueFragmentNamesRule, text: 'two fragments must not have one name' },
  { rule: KnownFragmentNamesRule, text: 'a fragment that is used must be defined' },
  { rule: NoFragmentCyclesRule, text: 'a fragment must not use itself' },
  { rule: NoUnusedFragmentsRule, text: 'a fragment that is defined must be used' },
  { rule: UniqueVariableNamesRule, text: 'two variables must not have one name' },
  { rule: VariablesAreInputTypesRule, text: 'a variable must be a String, ID, Int, Float, Boolean or JSON' },
  { rule: NoUndefinedVariablesRule, text: 'a variable that is used must be declared' },
  { rule: NoUnusedVariablesRule, text: 'a variable that is declared must be used' },
  { rule: KnownDirectivesRule, text: 'only the directives @include and @skip are known, on what is selected' },
  { rule: UniqueDirectivesPerLocationRule, text: 'a directive must not be repeated' },
  { rule: ProvidedRequiredArgumentsRule, text: 'a directive must have the argument "if"' },
  { rule: KnownArgumentNamesRule, text: 'a directive must have no argument but "if"' },
  { rule: UniqueArgumentNamesRule, text: 'an argument must not be repeated' },
  { rule: UniqueInputFieldNamesRule, text: 'a member must not be repeated' },
  { rule: ValuesOfCorrectTypeRule, text: 'a value must be of the declared type' },
  { rule: VariablesInAllowedPositionRule, text: 'the argument "if" must be a Boolean! variable' },
]

export interface GraphqlTextLimits {
  /** The most words and signs in the text of a query. */
  readonly tokens: number
  /** The most levels of brackets in the text of a query, of all three sorts together. */
  readonly nesting: number
}

const MAX_TEXT_CHARACTERS = 100_000
const MAX_NAME_CHARACTERS = 64

const OPENING_TOKENS: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_L, TokenKind.BRACKET_L, TokenKind.PAREN_L])
const CLOSING_TOKENS: ReadonlySet<TokenKind> = new Set([TokenKind.BRACE_R, TokenKind.BRACKET_R, TokenKind.PAREN_R])

/**
 * Checks the size of a text.
 * @throws QueryProblem it exceeds the limits, or has a character that no record can have
 * @throws GraphQLError it cannot be split into tokens of GraphQL
 */
export function checkTokens(text: string, limits: GraphqlTextLimits, path: string): void {
  if (text.length > MAX_TEXT_CHARACTERS) throw new QueryProblem(path, `must have at most ${MAX_TEXT_CHARACTERS} characters`)
  const lexer = new Lexer(new Source(text))
  let nesting = 0
  for (let tokens = 0; ; tokens += 1) {
    const { kind, value } = lexer.advance()
    if (kind === TokenKind.EOF) return
    if (tokens >= limits.tokens) {
      throw new QueryProblem(path, `must have at most ${limits.tokens} words and signs`)
    }
    if (OPENING_TOKENS.has(kind)) nesting += 1
    if (CLOSING_TOKENS.has(kind)) nesting -= 1
    if (nesting > limits.nesting) {
      throw new QueryProblem(path, `must be nested at most ${limits.nesting} levels deep`)
    }
    if (kind === TokenKind.NAME && value !== undefined && value.length > MAX_NAME_CHARACTERS) {
      throw new QueryProblem(path, `names must have at most ${MAX_NAME_CHARACTERS} characters`)
    }
    if ((kind === TokenKind.STRING || kind === TokenKind.BLOCK_STRING) && value?.includes('\0')) {
      throw new QueryProblem(path, 'texts must have no NUL character')
    }
  }
}
