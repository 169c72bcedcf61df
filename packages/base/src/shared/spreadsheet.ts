/** Cells of a file that a spreadsheet may open. */

/** A spreadsheet may read a text that begins with one of these characters as a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(\.\d+)?$/

/** The text of a cell: an apostrophe before a formula makes it a text. Numbers stay as they are. */
export const cellText = (text: string): string => (FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text)
