/** What stands in `signature` where nobody signed. */

/** The closed list (1.4, detail 6), compared letter by letter. */
export const PLACEHOLDERS: readonly string[] = [
  '',
  'unsigned',
  'unsigned-stub',
  'unsigned-mock',
  'mock-signature',
  'signature_validation_disabled',
  'new signature to be generated for request',
]

/** Whether a text says that the message is unsigned, rather than trying to be a signature. */
export function isPlaceholder(signature: string): boolean {
  return PLACEHOLDERS.includes(signature)
}
