/**
 * Errors and gaps in the population. Real registers have all of them, and software that was tested with clean records
 * fails on them. Rates are shares of persons unless another base is named; README.md lists them.
 */
export const DIRT = {
  /** Only the year of birth is known: "1985". */
  birth_year_only: 0.02,
  /** Only the month of birth is known: "1985-06". */
  birth_month_only: 0.02,
  /** Civil only: the birth is written as a date-time, without a zone, with Z, or with an offset. */
  birth_date_time: 0.06,
  /** IBR only: a full birth date is written "02.05.2004". */
  birth_local_spelling: 0.2,
  /** The person has one name: only given_name, or only surname, half and half. */
  single_name: 0.03,
  /** The name is in NFD, its accents combining characters; of households whose names carry accents. */
  decomposed_name: 0.5,
  /** The household has a telephone, which its members give as theirs; of households. */
  household_phone: 0.85,
  /** The person gives the telephone of a household they do not live in. */
  strangers_phone: 0.03,
  /** The telephone is written with spaces or hyphens; of telephones. */
  spaced_phone: 0.15,
  /** The person gives no telephone at all, though the household has one. */
  no_phone: 0.1,
  /** The person has an email address. */
  email: 0.35,
  /** An optional member is missing; for each optional member of each document. */
  missing_member: 0.08,
  /** Civil only: members that do not apply are written "" instead of being left out. */
  empty_string: 0.05,
  /** A code is written in words, or the word as a code: "1" for employed, "Married" for M. */
  other_spelling: 0.15,
} as const
