/**
 * The form of an identifier's values, as an operator writes it: `[0-9]{13}`, `[A-Z]{2}\d{6,8}`. The syntax is a small part of
 * regular expressions: characters and classes with repetitions. The time of a check grows with the lengths of value and pattern
 * only.
 */
import type { IdentifierType } from './kind.ts'

/** The longest pattern, in characters. */
export const PATTERN_MAX_LENGTH = 100
/** The longest value that a pattern may describe, in characters. */
const VALUE_MAX_LENGTH = 64

/** The message for a pattern that cannot be parsed. */
const PATTERN_SYNTAX_MESSAGE =
  'must be digits, capital letters, - / . _ and classes such as [0-9], [A-Z0-9] or \\d, each with {n}, {n,m} or ? if it is there several times or may be missing'
/** One part of a pattern: a class, `\d`, an escaped or plain character; with or without a repetition. */
const PATTERN_PART =
  /(?:\[((?:[A-Z0-9](?:-[A-Z0-9])?|[/._])+-?)\]|(\\d)|\\([-/.])|([A-Z0-9/_-]))(?:\{(\d{1,2})(?:,(\d{1,2}))?\}|(\?))?/y

/** The characters that one place of a value may have. */
interface PatternStep {
  readonly characters: string
  readonly optional: boolean
}

const DIGITS = '0123456789'
const stepsByPattern = new Map<string, readonly PatternStep[] | null>()

/** The rule that a pattern breaks; null when it is valid. */
export function patternProblem(pattern: string): string | null {
  if (pattern.length > PATTERN_MAX_LENGTH) return `must be at most ${PATTERN_MAX_LENGTH} characters`
  const steps = findPatternSteps(pattern)
  if (steps === null) return PATTERN_SYNTAX_MESSAGE
  if (steps.length > VALUE_MAX_LENGTH) return `must describe values of at most ${VALUE_MAX_LENGTH} characters`
  return steps.some(({ optional }) => !optional) ? null : 'must describe values of one character at least'
}

/** True when the whole value has the form. @throws Error the pattern is too long or cannot be parsed */
export function hasForm(pattern: string, value: string): boolean {
  const steps = findPatternSteps(pattern)
  if (steps === null) throw new Error('not a pattern')
  // The steps of the pattern that the next character of the value may match.
  let next = addReachableSteps(steps, new Set([0]))
  for (const character of value) {
    const after = new Set<number>()
    for (const at of next) if (steps[at]?.characters.includes(character)) after.add(at + 1)
    if (after.size === 0) return false
    next = addReachableSteps(steps, after)
  }
  return next.has(steps.length)
}

/** True when a normalised value has one of the forms of its type, or its type has none. */
export const isOfForm = ({ patterns }: Pick<IdentifierType, 'patterns'>, value: string): boolean =>
  patterns === undefined || patterns.some((pattern) => hasForm(pattern, value))

/** The shortest value of the form, with the first character of each class. */
export function sampleOfForm(pattern: string): string {
  const required = (findPatternSteps(pattern) ?? []).filter(({ optional }) => !optional)
  return required.map(({ characters }) => characters[0] ?? '').join('')
}

/** Adds the steps that can be reached without a character, by leaving out optional steps. */
function addReachableSteps(steps: readonly PatternStep[], reached: Set<number>): ReadonlySet<number> {
  for (const at of reached) if (steps[at]?.optional) reached.add(at + 1)
  return reached
}

/** The steps of a pattern, parsed once; null when the pattern is too long or cannot be parsed. */
function findPatternSteps(pattern: string): readonly PatternStep[] | null {
  const found = stepsByPattern.get(pattern)
  if (found !== undefined) return found
  const steps = pattern.length > PATTERN_MAX_LENGTH ? null : parsePattern(pattern.replace(/^\^/, '').replace(/\$$/, ''))
  stepsByPattern.set(pattern, steps)
  return steps
}

function parsePattern(pattern: string): readonly PatternStep[] | null {
  const steps: PatternStep[] = []
  PATTERN_PART.lastIndex = 0
  while (PATTERN_PART.lastIndex < pattern.length) {
    const part = PATTERN_PART.exec(pattern)
    if (part === null) return null
    const [, inClass, digit, escaped, plain, least, most, question] = part
    const characters = digit !== undefined ? DIGITS : inClass !== undefined ? charactersInClass(inClass) : (escaped ?? plain)
    const from = question !== undefined ? 0 : Number(least ?? 1)
    const to = question !== undefined ? 1 : Number(most ?? least ?? 1)
    if (characters === undefined || characters === '' || to < from || to === 0) return null
    for (let time = 0; time < to; time += 1) steps.push({ characters, optional: time >= from })
  }
  return steps.length === 0 ? null : steps
}

/** The characters of a class such as `0-9A-F`; empty when a range goes backwards, or from digits to letters. */
function charactersInClass(inClass: string): string {
  let characters = ''
  for (const [, from = '', to = from] of inClass.matchAll(/([A-Z0-9/._-])(?:-([A-Z0-9]))?/g)) {
    const [first, last] = [from.charCodeAt(0), to.charCodeAt(0)]
    if (last < first || /\d/.test(from) !== /\d/.test(to)) return ''
    for (let code = first; code <= last; code += 1) characters += String.fromCharCode(code)
  }
  return characters
}
