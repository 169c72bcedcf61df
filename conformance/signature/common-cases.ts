/** Texts and edits that vectors of several files share. */
import { type Case, HEADER, replaced } from './cases.ts'

/** By file, by clause, by name. */
export type Cases = Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, Case>>>>>>

export const NO_MATCH = 'the signature does not belong to this header and message'
export const NO_LIST = 'the signature must be a list of name="value" with commas between them'
export const NO_BASE64 = 'signature must be canonical base64'
/** A verifier that looks the key up finds no live key of that sender with that name and algorithm. */
export const NO_KEY = 'the sender has no such key'

export const OTHER_SENDER = replaced(HEADER, 'sp-system', 'other-system')
export const NUMBERS = '{"three":3.0,"small":1e-7,"big":1E+21,"minus":-0.50}'
export const NAMES = '{"name":"Zoë Μαρία 王","note":"a\\u2028b\\/c\\u007f\\n"}'
export const ASTRAL = '{"\u{1f600}":1,"\ufb00":2,"z":3}'

/** An edit of what has to be there. */
export const edited = (from: string | RegExp, to: string) => (signature: string) => replaced(signature, from, to)
