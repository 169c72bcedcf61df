/** Why a message does not count as signed by its sender. */

/** `missing`: there is no signature (err.signature.missing); `invalid`: there is one and it is no good (err.signature.invalid). */
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

/** A signature that is there and breaks a rule. */
export function invalid(rule: string): SignatureProblem {
  return new SignatureProblem('invalid', rule)
}
