/** Addresses of the help: the documents, and their sections, that the console contains. */

/** The address of a document in the help, or of one of its sections by the anchor of its heading. */
export const helpAddress = (...names: readonly [document?: string, anchor?: string]): string => ['#/help', ...names].join('/')

/** The address of the advice on a protocol code; null for another code. */
export const codeAddress = (code: string): string | null =>
  /^(?:err|rjct)\./.test(code) ? helpAddress('troubleshooting', code.replaceAll('.', '')) : null
