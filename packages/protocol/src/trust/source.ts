/**
 * An envelope with the text it was read from. Signatures of some participants cover the text, or its numbers, as
 * written. The value that is used must be the one that was signed, so both come from one text.
 */
import { isJsonObject, type JsonBounds, type JsonValue, parseJson } from '../json.ts'

/** The members of an envelope that a signature covers. */
export type SignedMember = 'header' | 'message'

/** An envelope of which a signature is verified. */
export interface SignedEnvelope {
  /** Undefined when there is none. */
  member(name: string): JsonValue | undefined
  /** The text of a member's value, exactly as it was written. */
  source(name: SignedMember): string
  /** Reads another text within the same bounds. */
  another(text: string): SourcedEnvelope
  /** The canonical text of the member in the form of the sender's profile, if it was computed before. */
  canonical?(name: SignedMember): string | undefined
}

/**
 * A JSON text, and the value that `parseJson` reads from it. Use only `value`: it is what `verifySignature` verifies.
 */
export class SourcedEnvelope implements SignedEnvelope {
  readonly text: string
  readonly value: JsonValue
  readonly #bounds: JsonBounds
  #sources: ReadonlyMap<string, string> | undefined

  /** @throws {JsonError} when the text is not JSON as `parseJson` reads it */
  constructor(text: string, bounds: JsonBounds = {}) {
    this.text = text
    this.value = parseJson(text, bounds)
    this.#bounds = bounds
  }

  /** A member of the envelope; undefined when there is none. */
  member(name: string): JsonValue | undefined {
    return isJsonObject(this.value) && Object.hasOwn(this.value, name) ? this.value[name] : undefined
  }

  /** The text of a member's value, exactly as it was written. */
  source(name: SignedMember): string {
    this.#sources ??= isJsonObject(this.value) ? memberSources(this.text) : new Map()
    const source = this.#sources.get(name)
    if (source === undefined) throw new RangeError(`the envelope has no member ${name}`)
    return source
  }

  /** Another text, read within the same bounds; throws as the constructor does. */
  another(text: string): SourcedEnvelope {
    return new SourcedEnvelope(text, this.#bounds)
  }
}

/** The text of each member of the object that `text` holds. The text must have passed `parseJson`. */
function memberSources(text: string): ReadonlyMap<string, string> {
  const sources = new Map<string, string>()
  const scanner = new Scanner(text)
  scanner.members((name) => sources.set(name, scanner.skipValue()))
  return sources
}

/**
 * Writes JSON text anew as `json.dumps(value, sort_keys=True, separators=(",", ":"))` of Python writes it: members
 * sorted by code point, everything but printable ASCII as \uXXXX; number lexemes stay as they were written.
 * The text must have passed `parseJson`, or be of `canonicalJson`.
 */
export function sortedEscaped(text: string): string {
  return rewrite(new Scanner(text), escaped)
}

/**
 * The same as `json.dumps(..., ensure_ascii=False)`: only quotes, backslashes and control characters below U+0020 are
 * escaped.
 */
export function sortedUnescaped(text: string): string {
  return rewrite(new Scanner(text), JSON.stringify)
}

/** @param quoted writes a string */
function rewrite(scanner: Scanner, quoted: (text: string) => string): string {
  switch (scanner.next()) {
    case '{': {
      const members: { readonly name: string; readonly text: string }[] = []
      scanner.members((name) => members.push({ name, text: rewrite(scanner, quoted) }))
      members.sort((one, other) => compareCodePoints(one.name, other.name))
      return `{${members.map(({ name, text }) => `${quoted(name)}:${text}`).join(',')}}`
    }
    case '[': {
      const elements: string[] = []
      scanner.elements(() => elements.push(rewrite(scanner, quoted)))
      return `[${elements.join(',')}]`
    }
    case '"':
      return quoted(scanner.string())
    default:
      return scanner.skipValue()
  }
}

const NUMBER_OR_WORD = /[-+.0-9a-zA-Z]+/y

/** Walks over valid JSON text; it only finds where values end, and checks nothing. */
class Scanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The next character that is no white space, without consuming it. */
  next(): string {
    for (;;) {
      const char = this.#text.charAt(this.#at)
      if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') return char
      this.#at += 1
    }
  }

  /** Walks over an object; `value` must walk over the value of the given member. */
  members(value: (name: string) => void): void {
    this.#each('}', () => {
      const name = this.string()
      this.next()
      this.#at += 1
      this.next()
      value(name)
    })
  }

  /** Walks over an array; `value` must walk over one element. */
  elements(value: () => void): void {
    this.#each(']', value)
  }

  #each(close: string, item: () => void): void {
    this.next()
    this.#at += 1
    while (this.next() !== close) {
      if (this.next() === ',') this.#at += 1
      this.next()
      item()
    }
    this.#at += 1
  }

  /** Walks over a string and gives what it means. */
  string(): string {
    return JSON.parse(this.#skipString()) as string
  }

  /** Walks over a value of any type and gives its text. */
  skipValue(): string {
    this.next()
    const start = this.#at
    let depth = 0
    do {
      const char = this.next()
      if (char === '"') this.#skipString()
      else if (char === '{' || char === '[') depth += 1
      else if (char === '}' || char === ']') depth -= 1
      else if (char !== ',' && char !== ':') this.#skipScalar()
      if ('{}[],:'.includes(char)) this.#at += 1
    } while (depth > 0)
    return this.#text.slice(start, this.#at)
  }

  #skipScalar(): void {
    NUMBER_OR_WORD.lastIndex = this.#at
    if (!NUMBER_OR_WORD.test(this.#text)) throw new RangeError('the text is not JSON')
    this.#at = NUMBER_OR_WORD.lastIndex
  }

  #skipString(): string {
    const start = this.#at
    let quote = this.#text.indexOf('"', start + 1)
    while (this.#backslashesBefore(quote) % 2 === 1) quote = this.#text.indexOf('"', quote + 1)
    this.#at = quote + 1
    return this.#text.slice(start, this.#at)
  }

  #backslashesBefore(place: number): number {
    let count = 0
    while (this.#text[place - count - 1] === '\\') count += 1
    return count
  }
}

const NOT_PRINTABLE_ASCII = /[^ -~]/g

function escaped(text: string): string {
  // JSON.stringify escapes quote, backslash and controls as Python does; DEL and beyond are left to do.
  return JSON.stringify(text).replace(
    NOT_PRINTABLE_ASCII,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
}

/** Compares by code point, while RFC 8785 compares UTF-16 code units; they differ for characters beyond U+FFFF. */
function compareCodePoints(one: string, other: string): number {
  const length = Math.min(one.length, other.length)
  for (let index = 0; index < length; index += 1) {
    const a = one.charCodeAt(index)
    const b = other.charCodeAt(index)
    if (a !== b) return rank(a) - rank(b)
  }
  return one.length - other.length
}

/** Moves surrogates, which encode the code points beyond U+FFFF, above all other code units. */
function rank(unit: number): number {
  if (unit < 0xd800) return unit
  return unit < 0xe000 ? unit + 0x2000 : unit - 0x800
}
