/**
 * Proposes how the codes of a column are read. Values that the list of codes does not have are shown only if they are few and
 * short; those of a database, only if they are also frequent, or known words or numbers for codes.
 */

import { type Attribute, codeLabel, normaliseCode } from '@rollcall/protocol'
import { UNDECIDED_MARK } from './column-mapping.ts'
import { CODE_TRANSLATIONS, STANDARD_CODES } from './column-synonyms.ts'
import { type ProposedColumn, proposeColumnChoices, proposeMappedColumn } from './proposed-column.ts'

type CodeList = NonNullable<Attribute['codes']>

/** A column whose name means an attribute with a list of codes. */
export interface CodedColumn {
  readonly column: string
  readonly path: string
  readonly list: CodeList
  readonly values: readonly string[]
  readonly reasons: readonly string[]
}

/** A table to whose keys a column refers. If this table is small, the texts in its rows may say what the column's codes mean. */
export interface LookupTable {
  readonly name: string
  /** The name of the table with the name of its schema. */
  readonly place: string
  /** The texts of each row, by its key; null: it has too many rows for a list of codes, or cannot be read. */
  readonly texts: ReadonlyMap<string, readonly string[]> | null
}

/** The most different values of a column, and the most rows of a lookup table, that are proposed as codes. */
export const MOST_CODES = 20
/** The most characters of a value that is proposed as a code. */
const LONGEST_CODE = 20
/** An unknown value of a database is a code only if this many rows of the sample have it: a rare one may identify a person. */
const LEAST_ROWS_OF_CODE = 3
/** Matches a long number, which may be a date or the number of a person. */
const LONG_NUMBER_PATTERN = /\d{5,}/

const isKnownCode = (list: CodeList, value: string): boolean => codeLabel(list, normaliseCode(list, value) ?? '') !== undefined

/** Returns a code of the list as it is spelled, or the code that a word such as `femme` means; undefined for other values. */
const codeFromWord = (list: CodeList, value: string): string | undefined =>
  isKnownCode(list, value) ? value : CODE_TRANSLATIONS[list]?.get(value.toLowerCase())

/** Returns a code as the list spells it. A value that is not on the list is returned in lower case; `?` stays. */
const canonicalCode = (list: CodeList, value: string): string =>
  value === UNDECIDED_MARK ? value : (normaliseCode(list, value) ?? value)

/** Proposes the codes of a column without a lookup table. @param isDatabase false: the table is a file */
export function proposeCodes({ column, path, list, values, reasons }: CodedColumn, isDatabase: boolean): ProposedColumn {
  const distinct = [...new Set(values)].toSorted()
  if (distinct.every((value) => isKnownCode(list, value))) {
    const why = [...reasons, `all its values are on the list ${list}`]
    // The mapping of a database lists each value, also those that are on the list: a search for a code asks the database for
    // the values that the mapping lists for the code.
    const codes = Object.fromEntries(distinct.map((value) => [value, canonicalCode(list, value)]))
    return proposeMappedColumn(column, path, isDatabase ? { column, codes } : column, why)
  }
  if (distinct.length > MOST_CODES || distinct.some((value) => value.length > LONGEST_CODE)) {
    return proposeColumnChoices(
      column,
      [...reasons, `some values are not on the list ${list}, and they are too many or too long to be codes`],
      [{ path, rule: column, meaning: 'values that are not on the list stay as they are' }],
    )
  }
  const isCode = (value: string): boolean =>
    codeFromWord(list, value) !== undefined ||
    STANDARD_CODES[list]?.codes.has(value) ||
    (!LONG_NUMBER_PATTERN.test(value) && values.filter((one) => one === value).length >= LEAST_ROWS_OF_CODE)
  if (isDatabase && !distinct.every(isCode)) {
    return proposeColumnChoices(
      column,
      [...reasons, `some values are not on the list ${list}, and they are too rare to be shown as codes`],
      [
        {
          path,
          rule: { column, codes: { [UNDECIDED_MARK]: UNDECIDED_MARK } },
          meaning: 'list the codes of the column, and what each means',
        },
      ],
    )
  }
  if (distinct.every((value) => codeFromWord(list, value) !== undefined)) {
    const codes = Object.fromEntries(distinct.map((value) => [value, canonicalCode(list, codeFromWord(list, value) ?? value)]))
    return proposeMappedColumn(column, path, { column, codes }, [
      ...reasons,
      `its values are words for codes of the list ${list}`,
    ])
  }
  const usual = STANDARD_CODES[list]
  const meant = (value: string): string => usual?.codes.get(value) ?? codeFromWord(list, value) ?? UNDECIDED_MARK
  const codes = Object.fromEntries(distinct.map((value) => [value, canonicalCode(list, meant(value))]))
  const meaning =
    usual !== undefined && distinct.every((value) => usual.codes.has(value))
      ? `as ${usual.source} has them; ask who made the data`
      : `write what each means in place of ${UNDECIDED_MARK}`
  return proposeColumnChoices(
    column,
    [...reasons, `some of its values are not on the list ${list}`],
    [{ path, rule: { column, codes }, meaning }],
  )
}

/**
 * Proposes the codes of a column whose values are keys of a lookup table. The proposal has a key only if the key's row has words
 * for exactly one code of the list, and the key is short and has no number of five or more digits.
 */
export function proposeLookupCodes(
  { column, path, list, values, reasons }: CodedColumn,
  { place, texts }: LookupTable,
): ProposedColumn {
  const why = [...reasons, `its values are keys of ${place}`]
  const rows = [...(texts ?? [])].toSorted(([one], [other]) => (one < other ? -1 : 1))
  const known = rows.flatMap(([key, words]): (readonly [string, string])[] => {
    const meant = new Set(words.flatMap((word) => codeFromWord(list, word) ?? []).map((word) => canonicalCode(list, word)))
    const [code, ...others] = meant
    return code === undefined || others.length > 0 || key.length > LONGEST_CODE || LONG_NUMBER_PATTERN.test(key)
      ? []
      : [[key, code]]
  })
  const codes = Object.fromEntries(known)
  const isWhole = known.length > 0 && [...rows.map(([key]) => key), ...values].every((key) => Object.hasOwn(codes, key))
  if (isWhole)
    return proposeMappedColumn(column, path, { column, codes }, [...why, `each row has a word for a code of the list ${list}`])
  return proposeColumnChoices(
    column,
    [...why, `not every row has a word for a code of the list ${list}`],
    [
      {
        path,
        rule: { column, codes: { ...codes, [UNDECIDED_MARK]: UNDECIDED_MARK } },
        meaning: `list the other keys of ${place}, and what each means`,
      },
    ],
  )
}
