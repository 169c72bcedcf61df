/** Makes texts safe as cells of a file that may be opened in a spreadsheet. */

/** A spreadsheet may read a text that begins with one of these characters as a formula. */
const FORMULA_BEGINNING_PATTERN = /^[=+\-@\t\r]/
const NUMBER_PATTERN = /^[+-]?\d+(\.\d+)?$/

/** The text of a cell. An apostrophe before a formula makes it plain text; numbers stay as they are. */
export const spreadsheetCell = (text: string): string =>
  FORMULA_BEGINNING_PATTERN.test(text) && !NUMBER_PATTERN.test(text) ? `'${text}` : text
