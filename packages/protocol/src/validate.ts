/** Checks values against schemas, and says in plain words what is wrong, without repeating the value. */
import type { TSchema } from 'typebox'
import type { TLocalizedValidationError } from 'typebox/error'
import Format from 'typebox/format'
import { Compile } from 'typebox/schema'
import { type PathStep, pathText } from './paths.ts'
import { isTimestamp, isTimeWithoutZone } from './timestamps.ts'

/** The most characters of a URI. On a text of megabytes the pattern of TypeBox would run out of stack. */
const MAX_URI_CHARACTERS = 8_192

// These checks are registered before any schema is compiled: a validator keeps the check that was registered when it was
// compiled.
Format.Set('date-time', isTimestamp)
Format.Set('uri', (text) => text.length <= MAX_URI_CHARACTERS && Format.IsUri(text))

/** A rule that a value breaks, and the place inside the value. */
export interface Problem {
  /** The path to the place inside the value; empty for the value itself. */
  readonly at: readonly PathStep[]
  readonly rule: string
  /** For an unknown member: the members that the object may have. */
  readonly known?: readonly string[]
}

/** A compiled schema. `Value` is the type of the values that it accepts. */
export interface Validator<Value = unknown> {
  /**
   * The first problem, such as "message.search_request[0].timestamp: must be a date-time with a time zone ..."; null when there
   * is none. Elements are checked in the order of the document, members in the order of the schema, missing members before wrong
   * ones. If a list has more than 100 elements, the problem need not be the first: only the first elements of lists are checked
   * at first. `path` is the place of `value`, such as `message`; it may be empty.
   */
  problem(value: unknown, path: string): string | null
  /** The first problem, with its place inside the value and the rule. */
  firstProblem(value: unknown): Problem | null
  /** True when the value is valid. It finds no reason, so it is fast enough to choose between schemas. */
  accepts(value: unknown): value is Value
  /** Returns a valid value with its type. @throws what `fault` makes from the first problem */
  checked(value: unknown, path: string, fault: (problem: string) => Error): Value
}

/** Compiles a schema. Keep the result, because compiling is slow. `Value` is the type that the schema describes. */
export function validator<Value = unknown>(schema: TSchema): Validator<Value> {
  const compiled = Compile(schema)
  const accepts = (value: unknown): value is Value => compiled.Check(value)
  const firstProblem = (value: unknown): Problem | null => {
    if (compiled.Check(value)) return null
    const [, errors] = compiled.Errors(cutArraysOfFailingValue(compiled, value))
    const error = findMostPreciseError(errors)
    // TypeBox's `Errors` should find an error whenever `Check` fails. If it finds none, the value is refused all the same.
    if (error === undefined) return { at: [], rule: 'is not accepted' }
    const { steps, found } = followPointer(value, error.instancePath)
    if (error.keyword === 'required') steps.push(...error.params.requiredProperties.slice(0, 1))
    const known = error.keyword === 'boolean' ? knownMemberNames(schema, error.schemaPath) : []
    return { at: steps, rule: ruleText(error, found, schema), ...(known.length > 0 && { known }) }
  }
  const problem = (value: unknown, path: string): string | null => {
    const first = firstProblem(value)
    return first === null ? null : problemText(path, first.at, first.rule)
  }
  return {
    accepts,
    problem,
    firstProblem,
    checked(value, path, fault) {
      if (accepts(value)) return value
      throw fault(problem(value, path) ?? problemText(path, [], 'is not accepted'))
    },
  }
}

/** A problem is searched in arrays that are cut to these lengths, the shortest first, and only then in whole ones. */
const CUT_ARRAY_LENGTHS = [100, 10_000]

/**
 * The value in which the problem is searched: a copy with shortened arrays if the schema refuses this copy too, else the whole
 * value. TypeBox looks at every element before it names the first error, which would take seconds for millions of wrong elements.
 * Elements keep their index. When the copy is refused, problems in the elements that were cut off are not found.
 */
function cutArraysOfFailingValue(compiled: { Check(value: unknown): boolean }, value: unknown): unknown {
  for (const length of CUT_ARRAY_LENGTHS) {
    const cut = cutArrays(value, length)
    if (cut === value) break
    if (!compiled.Check(cut)) return cut
  }
  return value
}

/** The value with arrays cut to `length`; the same object when no array is longer. */
function cutArrays(value: unknown, length: number): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const short = value.length > length ? value.slice(0, length) : value
    const cut = short.map((element) => cutArrays(element, length))
    return short === value && cut.every((element, index) => element === value[index]) ? value : cut
  }
  const entries = Object.entries(value)
  const cut = entries.map(([name, member]): [string, unknown] => [name, cutArrays(member, length)])
  return cut.every(([, member], index) => member === entries[index]?.[1]) ? value : Object.fromEntries(cut)
}

function problemText(path: string, steps: readonly PathStep[], rule: string): string {
  const inside = pathText(steps)
  const joint = path === '' || inside === '' || inside.startsWith('[') ? '' : '.'
  const place = `${path}${joint}${inside}`
  return place === '' ? rule : `${place}: ${rule}`
}

/**
 * The error to report. TypeBox lists the errors of each branch of a union, and then one error for the whole union. If the value
 * has the type of a branch and breaks another of its rules, the branch's error is reported, otherwise the error of the union.
 */
function findMostPreciseError(errors: readonly TLocalizedValidationError[]): TLocalizedValidationError | undefined {
  const [first] = errors
  const union = first?.schemaPath.indexOf('/anyOf/') ?? -1
  if (first === undefined || union < 0) return first
  const unionPath = first.schemaPath.slice(0, union)
  const whole = errors.find((error) => error.keyword === 'anyOf' && error.schemaPath === unionPath)
  if (whole === undefined) return first
  const inBranches = errors.slice(0, errors.indexOf(whole))
  const sameKind = (error: TLocalizedValidationError) =>
    error.instancePath.length > whole.instancePath.length || !['type', 'const', 'enum'].includes(error.keyword)
  return inBranches.find(sameKind) ?? whole
}

/** The steps of a JSON pointer, and the value at its end. */
function followPointer(value: unknown, pointer: string): { steps: PathStep[]; found: unknown } {
  const steps: PathStep[] = []
  let found = value
  for (const escaped of pointer.split('/').slice(1)) {
    const name = escaped.replaceAll('~1', '/').replaceAll('~0', '~')
    steps.push(Array.isArray(found) ? Number(name) : name)
    found = (found as Record<string, unknown> | null | undefined)?.[name]
  }
  return { steps, found }
}

/** For each JSON type, the words that name it in error messages. */
const TYPE_NAMES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  integer: 'a whole number',
  boolean: 'true or false',
  object: 'an object',
  array: 'an array',
  null: 'null',
}

/** For each pattern in the protocol's schemas, its rule in words. Messages show other patterns as they are. */
const PATTERN_RULES: Readonly<Record<string, string>> = {
  '^[a-z]{3}$': 'must be three lower-case letters (ISO 639-3)',
  '^[a-zA-Z0-9-]+$': 'may hold only letters, digits and "-"',
}

const DATE_TIME_RULE = 'must be a date-time with a time zone, such as 2026-02-03T09:15:00Z'
const ZONE_RULE = 'must be a date-time with a time zone; the zone (Z or an offset such as +02:00) is missing'

/** For each format in the protocol's schemas, the function that puts its rule into words, for error messages. */
const FORMAT_RULES: Readonly<Record<string, (found: unknown) => string>> = {
  'date-time': (found) => (typeof found === 'string' && isTimeWithoutZone(found) ? ZONE_RULE : DATE_TIME_RULE),
  uri: (found) =>
    String(found).length > MAX_URI_CHARACTERS ? `must have at most ${MAX_URI_CHARACTERS} characters` : 'must be an absolute URI',
}

function ruleText(error: TLocalizedValidationError, found: unknown, schema: TSchema): string {
  switch (error.keyword) {
    case 'required':
      return 'is required'
    // A closed object refuses unknown members with the schema `false`.
    case 'boolean':
      return 'is not a known member'
    case 'type':
      return `must be ${typeNamesText(error.params.type)}`
    case 'minLength':
      if (error.params.limit === 1) return 'must not be empty'
      return `must have at least ${error.params.limit} characters`
    case 'maxLength':
      return `must have at most ${error.params.limit} characters`
    case 'minItems':
      return `must have at least ${error.params.limit} elements`
    case 'maxItems':
      return `must have at most ${error.params.limit} elements`
    case 'minimum':
      return `must be at least ${error.params.limit}`
    case 'exclusiveMinimum':
      return `must be greater than ${error.params.limit}`
    case 'maximum':
      return `must be at most ${error.params.limit}`
    case 'pattern': {
      const pattern = String(error.params.pattern)
      return PATTERN_RULES[pattern] ?? `must match ${pattern}`
    }
    case 'format':
      return FORMAT_RULES[error.params.format]?.(found) ?? `must have the format ${error.params.format}`
    case 'enum':
      return `must be one of ${error.params.allowedValues.join(', ')}`
    case 'const':
      return `must be ${error.params.allowedValue}`
    case 'anyOf':
      return `must be ${unionBranchesText(schemaAt(schema, error.schemaPath))}`
    default:
      // TypeBox's own message: it names the rule, never the value.
      return error.message
  }
}

function typeNamesText(type: string | readonly string[]): string {
  return [type]
    .flat()
    .map((name) => TYPE_NAMES[name] ?? name)
    .join(' or ')
}

/** The constants or types that the branches of a union accept, for messages. */
function unionBranchesText(union: Record<string, unknown>): string {
  const accepted = (union.anyOf as Record<string, unknown>[]).map((branch) => {
    if (Array.isArray(branch.enum)) return branch.enum.join(' or ')
    return 'const' in branch ? String(branch.const) : typeNamesText((branch.type as string) ?? 'another form')
  })
  return [...new Set(accepted)].join(' or ')
}

/**
 * The members that a closed object may have.
 * @param path the path of the schema `false` that the object's schema has for all other members
 */
function knownMemberNames(schema: TSchema, path: string): readonly string[] {
  const around = schemaAt(schema, path.slice(0, path.lastIndexOf('/')))
  return Object.keys(around?.properties ?? {})
}

/** The part of a schema at a path such as `#/properties/query`. */
function schemaAt(schema: TSchema, path: string): Record<string, unknown> {
  let part: unknown = schema
  for (const name of path.split('/').slice(1)) part = (part as Record<string, unknown>)[name]
  return part as Record<string, unknown>
}
