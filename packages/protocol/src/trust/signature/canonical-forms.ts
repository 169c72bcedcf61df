/** The signed text of header and message, one row for each way of writing it. */
import { isJsonObject } from '../../json.ts'
import { JsonError } from '../../json-error.ts'
import { CanonicalJsonError, CanonicalText, canonicalJson } from '../canonical-json.ts'
import { type SignedEnvelope, type SignedMember, sortedEscaped, sortedUnescaped } from '../source.ts'
import { invalid } from './problem.ts'

export type CanonicalFormName = 'rfc8785' | 'sorted-escaped' | 'sorted-unescaped' | 'as-received'

/** Header and message in canonical form. */
export interface CanonicalParts {
  readonly header: string
  readonly message: string
}

/** A value, and the text it was read from or is sent as. */
interface Sourced {
  readonly value: unknown
  readonly source: () => string
}

/**
 * `rfc8785` depends on values only, so the spelling is free; the others depend on the text, or at least on the text of
 * numbers.
 */
export const CANONICAL_FORMS: Readonly<Record<CanonicalFormName, (sourced: Sourced) => string>> = {
  rfc8785: ({ value }) => canonicalJson(value),
  'sorted-escaped': ({ source }) => sortedEscaped(source()),
  'sorted-unescaped': ({ source }) => sortedUnescaped(source()),
  'as-received': ({ source }) => source(),
}

/** Both parts of a received envelope. @throws {SignatureProblem} one is missing, or has no canonical form */
export function receivedParts(envelope: SignedEnvelope, form: CanonicalFormName): CanonicalParts {
  if (!isJsonObject(envelope.member('header'))) throw invalid('the envelope has no header')
  if (envelope.member('message') === undefined) throw invalid('the envelope has no message')
  const part = (member: SignedMember) =>
    envelope.canonical?.(member) ??
    CANONICAL_FORMS[form]({ value: envelope.member(member), source: () => envelope.source(member) })
  return orInvalid(() => ({ header: part('header'), message: part('message') }))
}

/**
 * A payload of JSON text, read within the limits of its envelope.
 * @throws {SignatureProblem} it is no JSON, or has no canonical form
 */
export function receivedPayload(text: string, envelope: SignedEnvelope, form: CanonicalFormName): string {
  return orInvalid(() => CANONICAL_FORMS[form]({ value: envelope.another(text).value, source: () => text }))
}

/**
 * Both parts of an outgoing envelope, whose body must have them as `canonicalJson` writes them.
 * @throws {CanonicalJsonError} a part has no canonical JSON
 */
export function outgoingParts(header: unknown, message: unknown, form: CanonicalFormName): CanonicalParts {
  const part = (value: unknown) => {
    const text = canonicalJson(value)
    return CANONICAL_FORMS[form]({ value: new CanonicalText(text), source: () => text })
  }
  return { header: part(header), message: part(message) }
}

/** The object with header and message, as every form writes it: `header` sorts before `message`. */
export function objectText({ header, message }: CanonicalParts): string {
  return `{"header":${header},"message":${message}}`
}

/** The messages of both errors name a rule and no value, but a path may hold names that the peer made up. */
function orInvalid<Result>(made: () => Result): Result {
  try {
    return made()
  } catch (error) {
    if (error instanceof CanonicalJsonError)
      throw invalid(`the signed part cannot be written as canonical JSON: ${error.message}`)
    if (error instanceof JsonError) throw invalid('the payload cannot be read as JSON')
    throw error
  }
}
