/**
 * A public surface: every member of a schema with its direction, as lines that a later release is compared with. What peers and
 * operators send is input: it may not be narrowed. What they get is output: nothing in it may go. A declaration of a type is both: it may not change.
 */

export type Direction = 'input' | 'output' | 'declaration'

/** What a surface says about one member. */
export interface Fact {
  readonly direction: Direction
  readonly required: boolean
  /** JSON types; of an enumeration its values as JSON; the texts of a declaration. Sorted. */
  readonly types: readonly string[]
  /** Rules that narrow a value, such as `maxLength`. */
  readonly rules: Readonly<Record<string, unknown>>
}

/** The facts of a surface, by the path of the member. */
export type Surface = Readonly<Record<string, Fact>>

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
  readonly additionalProperties?: boolean | Schema
  readonly patternProperties?: Readonly<Record<string, Schema>>
}

const [LOWER, UPPER] = [
  ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'],
  ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'],
]
const EXACT = ['pattern', 'format', 'multipleOf', 'uniqueItems']
const RULES = [...LOWER, ...UPPER, ...EXACT]

/**
 * Reads the members of a schema.
 * @param document in which references are resolved
 */
export function surfaceOf(schema: unknown, at: string, direction: Direction, document: unknown = schema): Surface {
  const facts: Record<string, Fact> = {}
  read(schema as Schema, at, true, [])
  return facts

  function read(given: Schema, path: string, required: boolean, open: readonly Schema[]): void {
    const parts = alternatives(given, document)
    // A schema that has itself as a part is described where it is first met.
    if (parts.some((part) => open.includes(part))) return
    const before = facts[path]
    const types = parts.flatMap(typesOf)
    facts[path] = {
      direction,
      required: required && (before?.required ?? true),
      types: [...new Set([...(before?.types ?? []), ...types])].sort(),
      rules: parts.length === 1 && before === undefined ? rulesOf(parts[0] ?? {}) : {},
    }
    for (const part of parts) {
      const within = [...open, part]
      const isOnly = parts.length === 1
      for (const [name, member] of Object.entries(part.properties ?? {})) {
        read(member, `${path}.${name}`, isOnly && (part.required ?? []).includes(name), within)
      }
      if (part.items !== undefined) read(part.items, `${path}[]`, false, within)
      for (const member of [part.additionalProperties, ...Object.values(part.patternProperties ?? {})]) {
        if (typeof member === 'object') read(member, `${path}.*`, false, within)
      }
    }
  }
}

/** The schemas of which a value must satisfy one, with references resolved; members of `allOf` become one schema. */
function alternatives(schema: Schema, document: unknown): readonly Schema[] {
  if (schema.$ref !== undefined) return alternatives(resolved(schema.$ref, document), document)
  const some = schema.anyOf ?? schema.oneOf
  if (some !== undefined) return some.flatMap((one) => alternatives(one, document))
  if (schema.allOf === undefined) return [schema]
  const parts = schema.allOf.flatMap((one) => alternatives(one, document))
  return [
    {
      ...Object.assign({}, schema, ...parts),
      properties: Object.assign({}, schema.properties, ...parts.map(({ properties }) => properties)),
      required: [...(schema.required ?? []), ...parts.flatMap(({ required }) => required ?? [])],
      allOf: undefined,
    },
  ]
}

function resolved(reference: string, document: unknown): Schema {
  let found = document
  for (const part of reference.split('/').slice(1)) {
    const name = part.replaceAll('~1', '/').replaceAll('~0', '~')
    found = (found as Readonly<Record<string, unknown>> | undefined)?.[name]
  }
  if (found === undefined) throw new Error(`nothing is at ${reference}`)
  return found as Schema
}

function typesOf(schema: Schema): readonly string[] {
  if (schema.const !== undefined) return [JSON.stringify(schema.const)]
  if (schema.enum !== undefined) return schema.enum.map((value) => JSON.stringify(value))
  if (schema.type !== undefined) return [schema.type].flat()
  if (schema.properties !== undefined) return ['object']
  return schema.items === undefined ? ['any'] : ['array']
}

function rulesOf(schema: Schema): Readonly<Record<string, unknown>> {
  const rules = Object.entries(schema).filter(([name]) => RULES.includes(name))
  return Object.fromEntries([...rules, ...(schema.additionalProperties === false ? [['closed', true]] : [])])
}

/** Lists in lines what a surface has lost since a release; empty when it only grew. */
export function lost(released: Surface, now: Surface): readonly string[] {
  const gone = Object.entries(released).flatMap(([path, was]) => {
    const is = now[path]
    if (is === undefined) {
      // The members of what is gone need no line of their own.
      const parent = path.replace(/(?:\.[^.[]*|\[\])$/, '')
      return parent === path || now[parent] !== undefined ? [`${path} was removed`] : []
    }
    return CHANGES[was.direction](was, is).map((how) => `${path} ${how}`)
  })
  const demanded = Object.entries(now).flatMap(([path, { direction, required }]) => {
    const parent = path.replace(/(?:\.[^.[]*|\[\])$/, '')
    const isNew = released[path] === undefined && released[parent] !== undefined
    return isNew && required && direction !== 'output' ? [`${path} is new and required`] : []
  })
  return [...gone, ...demanded]
}

const CHANGES: Readonly<Record<Direction, (was: Fact, is: Fact) => readonly string[]>> = {
  input: narrowed,
  output: weakened,
  declaration: changed,
}

/** Further values and overloads are growth. */
function changed(was: Fact, is: Fact): readonly string[] {
  if (was.required !== is.required) return [`was ${necessity(was)} and is ${necessity(is)}`]
  return was.types.filter((text) => !is.types.includes(text)).map((text) => `is not declared as ${text} any more`)
}

const necessity = ({ required }: Fact): string => (required ? 'required' : 'optional')

function narrowed(was: Fact, is: Fact): readonly string[] {
  const taken = is.types.includes('any') ? [] : was.types.filter((type) => !accepts(is.types, type))
  const rules = [...new Set([...Object.keys(was.rules), ...Object.keys(is.rules)])]
  return [
    ...(is.required && !was.required ? ['was optional and is required'] : []),
    ...taken.map((type) => `does not take ${type} any more`),
    ...rules.filter((rule) => isTighter(rule, was.rules[rule], is.rules[rule])).map((rule) => `is narrower: ${rule}`),
  ]
}

/** A value of an enumeration is taken where its type is. */
function accepts(types: readonly string[], type: string): boolean {
  if (types.includes(type) || (type === 'integer' && types.includes('number'))) return true
  return /^["\d-]/.test(type) && types.includes(type.startsWith('"') ? 'string' : 'number')
}

function weakened(was: Fact, is: Fact): readonly string[] {
  const added = was.types.includes('any') ? [] : is.types.filter((type) => !accepts(was.types, type))
  // Further values of an enumeration are growth.
  const kinds = added.filter((type) => !/^["\d-]/.test(type) || !was.types.some((old) => /^["\d-]/.test(old)))
  return [
    ...(was.required && !is.required ? ['was always there and may be missing'] : []),
    ...kinds.map((type) => `may also be ${type}`),
  ]
}

function isTighter(rule: string, was: unknown, is: unknown): boolean {
  if (is === undefined || is === was) return false
  if (was === undefined) return true
  if (LOWER.includes(rule)) return Number(is) > Number(was)
  if (UPPER.includes(rule)) return Number(is) < Number(was)
  return JSON.stringify(is) !== JSON.stringify(was)
}
