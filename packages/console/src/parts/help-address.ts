/** Addresses of the help: sections of documents that the console contains. */

/** A section of a document in docs/, by the anchor of its heading. */
export const helpAddress = (...names: readonly [document?: string, anchor?: string]): string =>
  ['#/help', ...names].join('/')

/** Advice on a code of the protocol; null for a code without a section. */
export const codeAddress = (code: string): string | null =>
  /^(?:err|rjct)\./.test(code) ? helpAddress('troubleshooting', code.replaceAll('.', '')) : null
