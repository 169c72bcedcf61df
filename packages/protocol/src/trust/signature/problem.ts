/** The error of a signature that is missing or not valid, and the words that peers write instead of one. */

/**
 * `missing`: there is no signature (err.signature.missing). `invalid`: the signature is not valid
 * (err.signature.invalid).
 */
export type SignatureProblemKind = 'missing' | 'invalid'

/** The signature is refused. The message names the rule, and never repeats a value. */
export class SignatureProblem extends Error {
  readonly kind: SignatureProblemKind

  constructor(kind: SignatureProblemKind, rule: string) {
    super(rule)
    this.name = 'SignatureProblem'
    this.kind = kind
  }
}

/** Makes the error for a signature that breaks a rule. */
export function invalid(rule: string): SignatureProblem {
  return new SignatureProblem('invalid', rule)
}

/** The words that peers write instead of a signature (1.4, detail 6). They are compared exactly. */
export const PLACEHOLDERS: readonly string[] = [
  '',
  'unsigned',
  'unsigned-stub',
  'unsigned-mock',
  'mock-signature',
  'signature_validation_disabled',
  'new signature to be generated for request',
]

/** True for a word that stands for an unsigned message. */
export function isPlaceholder(signature: string): boolean {
  return PLACEHOLDERS.includes(signature)
}
