/** Addresses of the help: sections of documents that the console has with it. */

/** A section of a document in docs/, by the anchor of its heading. */
export const helpAddress = (...names: readonly [document?: string, anchor?: string]): string =>
  ['#/help', ...names].join('/')

/** What to do about a code of the protocol; null: a code that has no section. */
export const codeAddress = (code: string): string | null =>
  /^(?:err|rjct)\./.test(code) ? helpAddress('troubleshooting', code.replaceAll('.', '')) : null
