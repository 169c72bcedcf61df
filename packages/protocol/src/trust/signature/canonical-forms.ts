/** The text of header and message that is signed, one row for each canonical form. */
import { isJsonObject } from '../../json.ts'
import { JsonError } from '../../json-error.ts'
import { CanonicalJsonError, CanonicalText, canonicalJson } from '../canonical-json.ts'
import { type SignedEnvelope, type SignedMember, sortedAsciiJsonText, sortedJsonText } from '../source.ts'
import { invalid } from './problem.ts'

/**
 * `rfc8785`: canonical JSON. `sorted-escaped` and `sorted-unescaped`: as Python writes JSON with sorted members, with or without
 * escapes for characters outside ASCII. `as-received`: the text itself.
 */
export type CanonicalFormName = 'rfc8785' | 'sorted-escaped' | 'sorted-unescaped' | 'as-received'

/** Header and message in canonical form. */
export interface CanonicalParts {
  readonly header: string
  readonly message: string
}

/** A value and its JSON text: the text as received, or the text that will be sent. */
interface Sourced {
  readonly value: unknown
  readonly source: () => string
}

/**
 * For each form, the function that returns its text. `rfc8785` is written from the value alone, not from the received text.
 * `as-received` is the whole received text. The sorted forms take from the received text how its numbers are written.
 */
export const CANONICAL_FORMS: Readonly<Record<CanonicalFormName, (sourced: Sourced) => string>> = {
  rfc8785: ({ value }) => canonicalJson(value),
  'sorted-escaped': ({ source }) => sortedAsciiJsonText(source()),
  'sorted-unescaped': ({ source }) => sortedJsonText(source()),
  'as-received': ({ source }) => source(),
}

/** Both parts of a received envelope in this form. @throws {SignatureProblem} one is missing, or has no such form */
export function receivedParts(envelope: SignedEnvelope, form: CanonicalFormName): CanonicalParts {
  if (!isJsonObject(envelope.member('header'))) throw invalid('the envelope has no header')
  if (envelope.member('message') === undefined) throw invalid('the envelope has no message')
  const part = (member: SignedMember) =>
    envelope.canonical?.(member) ??
    CANONICAL_FORMS[form]({ value: envelope.member(member), source: () => envelope.source(member) })
  return withJsonErrorsAsProblems(() => ({ header: part('header'), message: part('message') }))
}

/**
 * The canonical form of a JSON text, read within the limits of the envelope.
 * @throws {SignatureProblem} it is not JSON, or has no canonical form
 */
export function canonicalPayloadText(text: string, envelope: SignedEnvelope, form: CanonicalFormName): string {
  return withJsonErrorsAsProblems(() => CANONICAL_FORMS[form]({ value: envelope.another(text).value, source: () => text }))
}

/**
 * Both parts of an envelope to send. The body that is sent must have both parts as `canonicalJson` writes them.
 * @throws {CanonicalJsonError} a part has no canonical JSON
 */
export function outgoingParts(header: unknown, message: unknown, form: CanonicalFormName): CanonicalParts {
  const part = (value: unknown) => {
    const text = canonicalJson(value)
    return CANONICAL_FORMS[form]({ value: new CanonicalText(text), source: () => text })
  }
  return { header: part(header), message: part(message) }
}

/** The object of header and message as text. `header` comes before `message` in every form. */
export function headerAndMessageText({ header, message }: CanonicalParts): string {
  return `{"header":${header},"message":${message}}`
}

/**
 * Returns the result of `made`; errors about JSON become a SignatureProblem. The text of a CanonicalJsonError goes into it,
 * because that text only names a rule. A JsonError may name members that the peer invented, so its text and path are left out.
 */
function withJsonErrorsAsProblems<Result>(made: () => Result): Result {
  try {
    return made()
  } catch (error) {
    if (error instanceof CanonicalJsonError)
      throw invalid(`the signed part cannot be written as canonical JSON: ${error.message}`)
    if (error instanceof JsonError) throw invalid('the payload cannot be read as JSON')
    throw error
  }
}
