/** Canonical JSON (RFC 8785): each value has only one text, so that two systems sign and hash the same bytes. */

/** The value has no canonical JSON. The message names the rule and the type of the value, never the value. */
export class CanonicalJsonError extends Error {
  constructor(rule: string) {
    super(rule)
    this.name = 'CanonicalJsonError'
  }
}

/**
 * A text that is canonical JSON already, such as a stored record. It is inserted unchanged and unchecked, so it must
 * come from `canonicalJson`.
 */
export class CanonicalText {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/**
 * Returns a value as the JSON text that RFC 8785 requires: members sorted by UTF-16 units, numbers as in ECMAScript, as few
 * escapes as possible, no white space. A member that is undefined is left out. A `CanonicalText` may be anywhere in the value.
 * @throws {CanonicalJsonError} for a value that JSON or I-JSON does not have: bigint, NaN, infinities, lone surrogates, undefined
 * outside an object, functions, symbols, and objects that are not plain data
 */
export function canonicalJson(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return canonicalString(value)
    case 'number':
      if (!Number.isFinite(value)) throw new CanonicalJsonError('NaN and infinities have no canonical JSON')
      return String(value)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'object':
      if (value === null) return 'null'
      if (value instanceof CanonicalText) return value.text
      return Array.isArray(value) ? canonicalArray(value) : canonicalObject(value)
    default:
      throw new CanonicalJsonError(`a value of type ${typeof value} has no canonical JSON`)
  }
}

function canonicalArray(elements: readonly unknown[]): string {
  let text = '['
  for (let index = 0; index < elements.length; index += 1) {
    if (index > 0) text += ','
    text += canonicalJson(elements[index])
  }
  return `${text}]`
}

function canonicalObject(members: object): string {
  const prototype: unknown = Object.getPrototypeOf(members)
  if (prototype !== Object.prototype && prototype !== null) {
    throw new CanonicalJsonError('an object that is no plain data has no canonical JSON')
  }
  let text = '{'
  for (const name of sortMemberNames(Object.keys(members))) {
    const value = (members as Readonly<Record<string, unknown>>)[name]
    if (value === undefined) continue
    if (text.length > 1) text += ','
    text += memberBeginning(name)
    text += canonicalJson(value)
  }
  return `${text}}`
}

/** The results of `memberBeginning`, by name. A cache helps because messages and records have the same few hundred names. */
const memberBeginningsByName = new Map<string, string>()
/**
 * The cache has at most `MOST_CACHED_NAMES` names, of at most `LONGEST_CACHED_NAME` characters: peers can send names of any
 * number and length.
 */
const MOST_CACHED_NAMES = 2_000
const LONGEST_CACHED_NAME = 64

/** The beginning of a member in canonical JSON: its name in quotation marks, and the colon. */
function memberBeginning(name: string): string {
  const known = memberBeginningsByName.get(name)
  if (known !== undefined) return known
  const begin = `${canonicalString(name)}:`
  if (name.length > LONGEST_CACHED_NAME) return begin
  if (memberBeginningsByName.size >= MOST_CACHED_NAMES) memberBeginningsByName.clear()
  memberBeginningsByName.set(name, begin)
  return begin
}

/** Up to this number of names, sorting by insertion is faster than the JavaScript engine's own sort. */
const MOST_INSERTION_SORTED_NAMES = 32

/** Sorts names in place by UTF-16 units (RFC 8785, 3.2.3), as `>` and `sort` without arguments do. */
function sortMemberNames(names: string[]): string[] {
  if (names.length > MOST_INSERTION_SORTED_NAMES) return names.sort()
  // Records consist of small objects: inserting takes half the time of the engine's sort.
  for (let index = 1; index < names.length; index += 1) {
    const name = names[index] as string
    let place = index - 1
    while (place >= 0 && (names[place] as string) > name) {
      names[place + 1] = names[place] as string
      place -= 1
    }
    names[place + 1] = name
  }
  return names
}

/** Matches characters that need an escape in canonical JSON, and surrogates, which may be lone ones. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const NOT_PLAIN_CHARACTER_PATTERN = /["\\\u0000-\u001f\ud800-\udfff]/

function canonicalString(text: string): string {
  if (!NOT_PLAIN_CHARACTER_PATTERN.test(text)) return `"${text}"`
  if (!text.isWellFormed()) throw new CanonicalJsonError('a text with a lone surrogate has no canonical JSON')
  // The escapes of ECMAScript are those of RFC 8785, 3.2.2.2.
  return JSON.stringify(text)
}
