/**
 * What of GraphQL the library checks: the language itself, whatever the kind of registry. Fields and arguments are
 * checked by those who read them.
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
  LoneAnonymousOperationRule,
  NoFragmentCyclesRule,
  NoUndefinedVariablesRule,
  NoUnusedFragmentsRule,
  NoUnusedVariablesRule,
  ProvidedRequiredArgumentsRule,
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
import { literalToJson } from './literal.ts'

/** The type of a variable that may hold any JSON, such as `$where: JSON`. */
const JSON_VALUE = new GraphQLScalarType({
  name: 'JSON',
  coerceInputValue: (value) => value,
  coerceInputLiteral: (node: ConstValueNode) => literalToJson(node, new Map(), 'variables'),
})

/** The types that a variable may have, and the directives @include and @skip. */
export const LANGUAGE = new GraphQLSchema({
  types: [GraphQLString, GraphQLID, GraphQLInt, GraphQLFloat, GraphQLBoolean, JSON_VALUE],
  directives: [GraphQLIncludeDirective, GraphQLSkipDirective],
  assumeValid: true,
})

/** Each rule with what it asks for, in words that cite nothing of the query. */
export const RULES: readonly { readonly rule: ValidationRule; readonly text: string }[] = [
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
  {
    rule: KnownDirectivesRule,
    text: 'only the directives @include and @skip are known, on what is selected',
  },
  { rule: UniqueDirectivesPerLocationRule, text: 'a directive must not be repeated' },
  { rule: ProvidedRequiredArgumentsRule, text: 'a directive must have the argument "if"' },
  { rule: KnownArgumentNamesRule, text: 'a directive must have no argument but "if"' },
  { rule: UniqueArgumentNamesRule, text: 'an argument must not be repeated' },
  { rule: UniqueInputFieldNamesRule, text: 'a member must not be repeated' },
  { rule: ValuesOfCorrectTypeRule, text: 'a value must be of the declared type' },
  { rule: VariablesInAllowedPositionRule, text: 'the argument "if" must be a Boolean! variable' },
]
