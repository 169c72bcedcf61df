/** Why a message is not accepted as signed by its sender. */

/**
 * `missing`: there is no signature (err.signature.missing). `invalid`: the signature is not valid
 * (err.signature.invalid).
 */
export type SignatureProblemKind = 'missing' | 'invalid'

/** Every refusal of a signature. The message says which rule failed and never repeats a value. */
export class SignatureProblem extends Error {
  readonly kind: SignatureProblemKind

  constructor(kind: SignatureProblemKind, rule: string) {
    super(rule)
    this.name = 'SignatureProblem'
    this.kind = kind
  }
}

/** A signature that breaks a rule. */
export function invalid(rule: string): SignatureProblem {
  return new SignatureProblem('invalid', rule)
}

/** The closed list of words in place of a signature (1.4, detail 6), compared letter by letter. */
export const PLACEHOLDERS: readonly string[] = [
  '',
  'unsigned',
  'unsigned-stub',
  'unsigned-mock',
  'mock-signature',
  'signature_validation_disabled',
  'new signature to be generated for request',
]

/** Whether a text is a word for an unsigned message. */
export function isPlaceholder(signature: string): boolean {
  return PLACEHOLDERS.includes(signature)
}
