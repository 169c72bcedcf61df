/** Cells of a file that a spreadsheet may open. */

/** What a spreadsheet takes for the beginning of a formula. */
const FORMULA = /^[=+\-@\t\r]/
const NUMBER = /^[+-]?\d+(\.\d+)?$/

/** The text of a cell: an apostrophe before what would be a formula makes it a text. Numbers stay as they are. */
export const cellText = (text: string): string =>
  FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text
