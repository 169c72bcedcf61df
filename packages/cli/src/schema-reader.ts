/** Reads values of an admin function's input from texts of a command line, by the function's schema. */
import { InvalidArgumentError } from 'commander'
import { readInstant, wholeNumberReader } from './values.ts'

/** The members of a JSON Schema that this file knows. */
interface JsonSchema {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly const?: string
  readonly format?: string
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
  readonly items?: JsonSchema
  readonly anyOf?: readonly JsonSchema[]
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[] | undefined
}

export interface SchemaMember {
  readonly name: string
  readonly schema: JsonSchema
  /** A line of help: it begins with a small letter and has no full stop. */
  readonly description: string
  readonly isRequired: boolean
}

/** How the text of an option or an argument becomes a value. */
interface OptionTextReader {
  /** Reads the text; undefined: the text is the value. `before` is what earlier uses of the same option gave. */
  readonly parse?: (text: string, before?: readonly unknown[]) => unknown
  /** The only values that are possible; undefined: the values are not listed. */
  readonly choices?: readonly string[]
  /** The name of the value in the help; undefined: that of the member; '': the option has no value. */
  readonly placeholder?: string
  /** Words that are allowed in place of a value, such as `unlimited`. */
  readonly words?: readonly string[]
}

/** Lists the members of an input, in the order of its schema. */
export function schemaMembers(input: object): readonly SchemaMember[] {
  const { properties = {}, required = [] } = input as JsonSchema
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    schema,
    description: helpLine(schema),
    isRequired: required.includes(name),
  }))
}

/** Finds how a member is read; null: no option can give its value, as for an object. @param none the word for null */
export function findMemberReader(schema: JsonSchema, none: string): OptionTextReader | null {
  if (schema.anyOf !== undefined) return unionReader(schema.anyOf, none)
  if (schema.enum !== undefined) return { choices: schema.enum }
  if (schema.format === 'date-time') return { placeholder: 'time', parse: (text) => readInstant(text).toISOString() }
  return READERS_BY_TYPE[schema.type ?? '']?.(schema) ?? null
}

const READERS_BY_TYPE: Readonly<Record<string, (schema: JsonSchema) => OptionTextReader | null>> = {
  string: () => ({}),
  boolean: () => ({ placeholder: '' }),
  integer: ({ minimum = 0, maximum }) => ({ placeholder: 'number', parse: wholeNumberReader(minimum, maximum) }),
  number: () => ({ placeholder: 'number', parse: readNumberAboveZero }),
  array: ({ items = {} }) => {
    const each = findMemberReader(items, '')
    if (each === null) return null
    // With choices, one use of the option takes several values: `--x a b` (Commander's `value...`). Otherwise each use takes
    // one value, and `parse` adds it to those before.
    if (each.choices !== undefined) return { ...each, placeholder: 'value...' }
    return { placeholder: 'value', parse: (text, before = []) => [...before, each.parse === undefined ? text : each.parse(text)] }
  },
}

/** Makes a reader for a union of words, such as `unlimited`, and one type of value; null when it has several types of values. */
function unionReader(kinds: readonly JsonSchema[], none: string): OptionTextReader | null {
  const words = kinds.flatMap(({ const: word, type }) => word ?? (type === 'null' ? none : []))
  const others = kinds.filter((kind) => kind.const === undefined && kind.type !== 'null')
  const [other = {}] = others
  const reader = others.length > 1 ? null : findMemberReader(other, none)
  if (reader === null || reader.choices !== undefined) return reader
  const parse = (text: string, before?: readonly unknown[]) => {
    const isWord = words.includes(text)
    // The value of an earlier use may be a word, too: a word and another value would contradict each other.
    if (before !== undefined && (isWord || !Array.isArray(before))) throw new InvalidArgumentError('It is given more than once.')
    if (isWord) return kinds.some((kind) => kind.const === text) ? text : null
    try {
      return reader.parse === undefined ? text : reader.parse(text, before)
    } catch (error) {
      const { type = '', maximum = Number.MAX_SAFE_INTEGER } = other
      const kind = NUMBER_TYPE_NAMES[type]
      if (kind === undefined) throw error
      const most = maximum < Number.MAX_SAFE_INTEGER ? ` up to ${maximum}` : ''
      throw new InvalidArgumentError(`It must be ${[`${kind}${most}`, ...words.slice(0, -1)].join(', ')} or ${words.at(-1)}.`)
    }
  }
  return { ...reader, parse, words }
}

const NUMBER_TYPE_NAMES: Readonly<Record<string, string>> = { integer: 'a whole number', number: 'a number above 0' }

function readNumberAboveZero(text: string): number {
  if (/^\d+(\.\d+)?$/.test(text) && Number(text) > 0) return Number(text)
  throw new InvalidArgumentError('It must be a number above 0.')
}

/** Returns the description of a member as a line of help; for a union without one, the first description among its parts. */
function helpLine({ description, anyOf = [] }: JsonSchema): string {
  const text = description ?? anyOf.find((kind) => kind.description !== undefined)?.description ?? ''
  const line = text.replace(/\.$/, '')
  return /^[A-Z][a-z]* /.test(line) ? `${line.charAt(0).toLowerCase()}${line.slice(1)}` : line
}
