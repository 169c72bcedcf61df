/**
 * Reads JSON more strictly than `JSON.parse`: it refuses what two readers could understand differently (duplicate
 * names, rounded numbers), and texts that a database cannot store (NUL, lone surrogates).
 */
import { JsonError, TooManyItems } from './json-error.ts'
import { exactNumber, NUMBER_RULE } from './numbers.ts'
import { type PathStep, pathText } from './paths.ts'

/** Any JSON value, as `JSON.parse` would give it. */
export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [member: string]: JsonValue
}

/** True for an object; false for an array, null, text, number or boolean. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The default limit of nesting. It also limits the recursion of the reader. */
export const DEFAULT_MAX_DEPTH = 64

/** The limits of a text. They are checked while the text is read, so that no time is spent beyond them. */
export interface JsonBounds {
  /** The largest number of arrays and objects inside each other. */
  readonly maxDepth?: number
  /** The largest number of values in the text: each object, array, text, number, true, false and null is one. */
  readonly maxValues?: number
  /** The largest number of names in one object. */
  readonly maxNames?: number
  readonly bulk?: JsonBulk
  /** False for a name of a member that errors show as "*", because it may be a value of a person. Without it, all names are shown. */
  readonly isShownName?: (name: string) => boolean
}

/** Limits for a text in which one member may have many values, and the rest of the text only few. */
export interface JsonBulk {
  /** The paths at which the member with many values may be, such as `['message', 'search_request']`. */
  readonly paths: readonly (readonly string[])[]
  /** The largest number of elements in the array at one of `paths`. */
  readonly maxItems?: number
  /** The largest number of values in the text outside of the member with many values. */
  readonly maxOutside: number
}

/**
 * Reads a JSON text (RFC 8259). Refuses duplicate names at any depth, also with escapes, nesting deeper than `maxDepth`, lone
 * surrogates, NUL, and numbers that would be rounded (`exactNumber`). A member named `__proto__` is an ordinary member.
 * @throws {JsonError} and nothing else
 */
export function parseJson(text: string, bounds: JsonBounds = {}): JsonValue {
  return new JsonReader(text, bounds).document()
}

/**
 * Finds the first error in the beginning of a text, before the rest has arrived, so that a long text can be refused
 * early. Null when there is no error, or when the error is at the end of `beginning`, where the rest may correct it.
 */
export function jsonBeginningProblem(beginning: string, bounds: JsonBounds = {}): JsonError | null {
  const reader = new JsonReader(beginning, bounds)
  try {
    reader.document()
  } catch (error) {
    if (!(error instanceof JsonError)) throw error
    if (!reader.isAtEnd) return error
  }
  return null
}

const QUOTE = 0x22
const PLUS = 0x2b
const COMMA = 0x2c
const MINUS = 0x2d
const POINT = 0x2e
const ZERO = 0x30
const NINE = 0x39
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const BACKSLASH = 0x5c
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

class JsonReader {
  readonly #text: string
  readonly #maxDepth: number
  readonly #maxValues: number
  readonly #maxNames: number
  readonly #bulk: JsonBulk | undefined
  readonly #isShownName: (name: string) => boolean
  /** The length of the longest path in `bulk`: members in deeper objects are not compared with the paths. */
  readonly #bulkLevels: number
  /**
   * For each open array or object, the index or name of the value that is being read in it; together, the path to that value.
   * Null before the first element of an array, and until the next name in an object is read.
   */
  readonly #steps: (PathStep | null)[] = []
  #at = 0
  #depth = 0
  #values = 0
  /** The largest allowed `#values` at the current place: `maxValues`, or less outside of the values at a path of `bulk`. */
  #allowed: number

  constructor(text: string, { maxDepth, maxValues, maxNames, bulk, isShownName }: JsonBounds) {
    this.#text = text
    this.#maxDepth = maxDepth ?? DEFAULT_MAX_DEPTH
    this.#maxValues = maxValues ?? Number.POSITIVE_INFINITY
    this.#maxNames = maxNames ?? Number.POSITIVE_INFINITY
    this.#bulk = bulk
    this.#isShownName = isShownName ?? (() => true)
    this.#bulkLevels = Math.max(0, ...(bulk?.paths ?? []).map((path) => path.length))
    this.#allowed = Math.min(this.#maxValues, bulk?.maxOutside ?? Number.POSITIVE_INFINITY)
  }

  /** True when the reader is at the end of the text, so that missing parts may follow. */
  get isAtEnd(): boolean {
    return this.#at >= this.#text.length
  }

  document(): JsonValue {
    if (this.#text.startsWith('\ufeff')) throw this.#notJson('a value, and no byte order mark,')
    const value = this.#value()
    if (!Number.isNaN(this.#next())) throw this.#notJson('the end of the text')
    return value
  }

  #value(): JsonValue {
    this.#values += 1
    if (this.#values > this.#allowed) throw this.#tooManyValues()
    const char = this.#next()
    switch (char) {
      case QUOTE:
        return this.#string()
      case OPEN_OBJECT:
        return this.#object()
      case OPEN_ARRAY:
        return this.#array()
      case 0x74:
        return this.#word('true', true)
      case 0x66:
        return this.#word('false', false)
      case 0x6e:
        return this.#word('null', null)
      default:
        if (char === MINUS || isDigit(char)) return this.#number()
        throw this.#notJson('a value')
    }
  }

  #object(): JsonObject {
    const object: JsonObject = {}
    const level = this.#enter()
    let names = 0
    if (this.#next() === CLOSE_OBJECT) return this.#leave(object)
    for (;;) {
      this.#steps[level] = null
      if (this.#next() !== QUOTE) throw this.#notJson('a member name')
      names += 1
      if (names > this.#maxNames) throw this.#refusal(`must have at most ${this.#maxNames} names`)
      const name = this.#string()
      this.#steps[level] = name
      if (Object.hasOwn(object, name)) throw this.#refusal('the member name occurs twice in one object')
      if (this.#next() !== COLON) throw this.#notJson('":"')
      this.#at += 1
      const value = level < this.#bulkLevels && this.#isBulk() ? this.#bulkValue() : this.#value()
      if (name === '__proto__') defineOwnMember(object, name, value)
      else object[name] = value
      const char = this.#next()
      if (char === CLOSE_OBJECT) return this.#leave(object)
      if (char !== COMMA) throw this.#notJson('"," or "}"')
      this.#at += 1
    }
  }

  /** True when the value that is being read is at a path of `bulk`, and may have many values. */
  #isBulk(): boolean {
    const steps = this.#steps
    return (
      this.#bulk?.paths.some((path) => path.length === steps.length && path.every((name, level) => name === steps[level])) ===
      true
    )
  }

  /** Reads the value at a path of `bulk`. Its values count for `maxValues`, but not for `maxOutside`. */
  #bulkValue(): JsonValue {
    const [before, allowed] = [this.#values, this.#allowed]
    this.#allowed = this.#maxValues
    const value = this.#next() === OPEN_ARRAY ? this.#array(this.#bulk?.maxItems) : this.#value()
    this.#allowed = Math.min(this.#maxValues, allowed + this.#values - before)
    return value
  }

  #array(maxItems = Number.POSITIVE_INFINITY): JsonValue[] {
    const array: JsonValue[] = []
    const level = this.#enter()
    if (this.#next() === CLOSE_ARRAY) return this.#leave(array)
    for (;;) {
      this.#steps[level] = array.length
      if (array.length >= maxItems) throw this.#tooManyItems(maxItems)
      array.push(this.#value())
      const char = this.#next()
      if (char === CLOSE_ARRAY) return this.#leave(array)
      if (char !== COMMA) throw this.#notJson('"," or "]"')
      this.#at += 1
    }
  }

  /** Skips an opening bracket. Returns the index in `#steps` of the new level. */
  #enter(): number {
    if (this.#depth >= this.#maxDepth) throw this.#refusal(`nested deeper than ${this.#maxDepth} levels`)
    this.#depth += 1
    this.#at += 1
    return this.#steps.push(null) - 1
  }

  /** Skips a closing bracket, and returns the object or array that ends with it. */
  #leave<Container>(container: Container): Container {
    this.#depth -= 1
    this.#at += 1
    this.#steps.pop()
    return container
  }

  #word<Word extends boolean | null>(word: string, value: Word): Word {
    if (!this.#text.startsWith(word, this.#at)) {
      const problem = this.#notJson('a value')
      if (word.startsWith(this.#text.slice(this.#at))) this.#at = this.#text.length
      throw problem
    }
    this.#at += word.length
    return value
  }

  #number(): number {
    const text = this.#text
    const start = this.#at
    if (text.charCodeAt(this.#at) === MINUS) this.#at += 1
    if (text.charCodeAt(this.#at) === ZERO) this.#at += 1
    else this.#digits()
    if (text.charCodeAt(this.#at) === POINT) {
      this.#at += 1
      this.#digits()
    }
    if ((text.charCodeAt(this.#at) | 0x20) === 0x65) {
      this.#at += 1
      const sign = text.charCodeAt(this.#at)
      if (sign === MINUS || sign === PLUS) this.#at += 1
      this.#digits()
    }
    const number = exactNumber(text.slice(start, this.#at))
    if (number === null) throw this.#refusal(NUMBER_RULE)
    return number
  }

  #digits(): void {
    if (!isDigit(this.#text.charCodeAt(this.#at))) throw this.#notJson('a digit')
    do this.#at += 1
    while (isDigit(this.#text.charCodeAt(this.#at)))
  }

  /** Reads a string; the opening quote is the current character. Most strings have no escapes and are copied. */
  #string(): string {
    const text = this.#text
    const start = this.#at + 1
    let at = start
    let escapes = false
    let surrogates = false
    for (;;) {
      const char = text.charCodeAt(at)
      if (char === QUOTE) break
      if (!(char >= 0x20)) throw this.#badCharacter(at)
      if (char === BACKSLASH) {
        escapes = true
        at += 1
      } else if ((char & 0xf800) === 0xd800) surrogates = true
      at += 1
    }
    const value = escapes ? this.#unescaped(start - 1, at + 1) : text.slice(start, at)
    // Both halves of a surrogate pair may be written as escapes, so check after unescaping.
    if ((escapes || surrogates) && !value.isWellFormed()) throw this.#refusal('the text has a lone surrogate')
    if (escapes && value.includes('\0')) throw this.#refusal('the text has a NUL character')
    this.#at = at + 1
    return value
  }

  /** Reads the string literal between two positions, quotes included; `JSON.parse` reads its escapes. */
  #unescaped(start: number, end: number): string {
    try {
      return JSON.parse(this.#text.slice(start, end))
    } catch {
      throw this.#notJson('a string whose escapes are those of JSON')
    }
  }

  /** The next character that is not white space, without moving past it; NaN at the end. */
  #next(): number {
    for (;;) {
      const char = this.#text.charCodeAt(this.#at)
      if (char > 0x20 || (char !== 0x20 && char !== 0x0a && char !== 0x0d && char !== 0x09)) return char
      this.#at += 1
    }
  }

  #badCharacter(at: number): JsonError {
    if (at >= this.#text.length) {
      this.#at = at
      return this.#notJson('the end of a string')
    }
    if (this.#text.charCodeAt(at) === 0) return this.#refusal('the text has a NUL character')
    return this.#refusal('the text has a control character that is not escaped')
  }

  #notJson(expected: string): JsonError {
    return this.#refusal(`not JSON: ${expected} is expected at character ${this.#at + 1}`)
  }

  #tooManyValues(): JsonError {
    if (this.#values > this.#maxValues) return new JsonError('', `must have at most ${this.#maxValues} values`)
    const { paths = [], maxOutside } = this.#bulk ?? {}
    const outside = paths.map(pathText).join(', ')
    return new JsonError('', `must have at most ${maxOutside} values outside ${outside}`)
  }

  #tooManyItems(maxItems: number): TooManyItems {
    return new TooManyItems(pathText(this.#way().slice(0, -1)), `must have at most ${maxItems} items`)
  }

  #refusal(rule: string): JsonError {
    return new JsonError(pathText(this.#way()), rule)
  }

  #way(): PathStep[] {
    const steps = this.#steps.filter((step) => step !== null)
    return steps.map((step) => (typeof step === 'number' || this.#isShownName(step) ? step : '*'))
  }
}

function isDigit(char: number): boolean {
  return char >= ZERO && char <= NINE
}

/** Defines a member of any name: an assignment to `__proto__` would call a setter instead. */
function defineOwnMember(object: JsonObject, name: string, value: JsonValue): void {
  Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true })
}
