/**
 * An envelope together with its text. Some participants sign the text as they wrote it; others sign a canonical form in which
 * only numbers stay as written. What we read must be what was signed, so the value is parsed from the text that is verified.
 */
import { compareCodePoints } from '../attributes/code-points.ts'
import { isJsonObject, type JsonBounds, type JsonValue, parseJson } from '../json.ts'

/** The members of an envelope that a signature covers. */
export type SignedMember = 'header' | 'message'

/** The parts of an envelope that are needed to verify its signature, if it has one. */
export interface SignedEnvelope {
  /** A member of the envelope; undefined when there is none. */
  member(name: string): JsonValue | undefined
  /** The text of a member's value, exactly as written. */
  source(name: SignedMember): string
  /** Parses another text, such as the payload in a signature, within the limits with which this envelope was parsed. */
  another(text: string): SourcedEnvelope
  /** The canonical text of a member for the sender's profile, if it was computed before. */
  canonical?(name: SignedMember): string | undefined
}

/** An envelope as text, with the value that `parseJson` reads from it. Use only `value`; do not parse `text` another way. */
export class SourcedEnvelope implements SignedEnvelope {
  readonly text: string
  readonly value: JsonValue
  readonly #bounds: JsonBounds
  #sources: ReadonlyMap<string, string> | undefined

  /** Parses the text. @throws {JsonError} `parseJson` refuses it */
  constructor(text: string, bounds: JsonBounds = {}) {
    this.text = text
    this.value = parseJson(text, bounds)
    this.#bounds = bounds
  }

  /** A member of the envelope; undefined when there is none. */
  member(name: string): JsonValue | undefined {
    return isJsonObject(this.value) && Object.hasOwn(this.value, name) ? this.value[name] : undefined
  }

  /** The text of a member's value, exactly as written. */
  source(name: SignedMember): string {
    this.#sources ??= isJsonObject(this.value) ? readMemberJsonTexts(this.text) : new Map()
    const source = this.#sources.get(name)
    if (source === undefined) throw new RangeError(`the envelope has no member ${name}`)
    return source
  }

  /** Parses another text, within the limits with which this envelope was parsed; throws like the constructor. */
  another(text: string): SourcedEnvelope {
    return new SourcedEnvelope(text, this.#bounds)
  }
}

/** For each member of the object in `text`, its text. Use it only for texts that `parseJson` has accepted. */
function readMemberJsonTexts(text: string): ReadonlyMap<string, string> {
  const sources = new Map<string, string>()
  const scanner = new JsonScanner(text)
  scanner.members((name) => sources.set(name, scanner.skipValue()))
  return sources
}

/**
 * Returns JSON text as Python's `json.dumps(value, sort_keys=True, separators=(",", ":"))` writes it: members sorted by code
 * point, strings with the escapes of `JSON.stringify`, and other characters outside printable ASCII as \uXXXX. Numbers stay as
 * written. Use it only for texts from `canonicalJson`, or that `parseJson` has accepted.
 */
export function sortedAsciiJsonText(text: string): string {
  return sortedValueText(new JsonScanner(text), asciiJsonString)
}

/**
 * Does the same as `json.dumps(..., ensure_ascii=False)`: escapes only quotes, backslashes and control characters below U+0020.
 */
export function sortedJsonText(text: string): string {
  return sortedValueText(new JsonScanner(text), JSON.stringify)
}

/** Returns the text of the next value with sorted members. @param quoted returns a string as JSON text */
function sortedValueText(scanner: JsonScanner, quoted: (text: string) => string): string {
  switch (scanner.next()) {
    case '{': {
      const members: { readonly name: string; readonly text: string }[] = []
      scanner.members((name) => members.push({ name, text: sortedValueText(scanner, quoted) }))
      // RFC 8785 compares UTF-16 units instead. The two orders differ for characters beyond U+FFFF.
      members.sort((one, other) => compareCodePoints(one.name, other.name))
      return `{${members.map(({ name, text }) => `${quoted(name)}:${text}`).join(',')}}`
    }
    case '[': {
      const elements: string[] = []
      scanner.elements(() => elements.push(sortedValueText(scanner, quoted)))
      return `[${elements.join(',')}]`
    }
    case '"':
      return quoted(scanner.string())
    default:
      return scanner.skipValue()
  }
}

const NUMBER_OR_WORD_PATTERN = /[-+.0-9a-zA-Z]+/y

/** Moves through valid JSON text. It finds where values end, and checks nothing. */
class JsonScanner {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The next character that is not white space, without moving past it. */
  next(): string {
    for (;;) {
      const char = this.#text.charAt(this.#at)
      if (char !== ' ' && char !== '\n' && char !== '\r' && char !== '\t') return char
      this.#at += 1
    }
  }

  /** Moves past an object; `value` must move past the value of each member. */
  members(value: (name: string) => void): void {
    this.#each('}', () => {
      const name = this.string()
      this.next()
      this.#at += 1
      this.next()
      value(name)
    })
  }

  /** Moves past an array; `value` must move past each element. */
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

  /** Moves past a string, and returns its value. */
  string(): string {
    return JSON.parse(this.#skipString()) as string
  }

  /** Moves past a value of any type, and returns its text. */
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
    NUMBER_OR_WORD_PATTERN.lastIndex = this.#at
    if (!NUMBER_OR_WORD_PATTERN.test(this.#text)) throw new RangeError('the text is not JSON')
    this.#at = NUMBER_OR_WORD_PATTERN.lastIndex
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

function asciiJsonString(text: string): string {
  // JSON.stringify escapes quotes, backslashes and control characters as Python does; the rest is escaped here.
  return JSON.stringify(text).replace(NOT_PRINTABLE_ASCII, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
