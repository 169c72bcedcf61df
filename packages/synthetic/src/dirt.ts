/**
 * The rates of errors and gaps in the documents. Real registers have them all, and software that was only tested with
 * clean records fails on them. A rate is a share of the persons unless another base is named. README.md lists them.
 */
export const ERROR_RATES = {
  /** The birth date is a year only: "1985". */
  birth_year_only: 0.02,
  /** The birth date is a month only: "1985-06". */
  birth_month_only: 0.02,
  /** In civil documents: the birth date has a time, with no zone, with Z, or with an offset. */
  birth_date_time: 0.06,
  /** In IBR documents: a full birth date is written "02.05.2004". */
  birth_local_spelling: 0.2,
  /** The person has only a given_name or only a surname. */
  single_name: 0.03,
  /** Share of the households whose names have accents: accents are written as combining characters (NFD). */
  decomposed_name: 0.5,
  /** Share of households: the household has a telephone, which its members give as theirs. */
  household_phone: 0.85,
  /** The person gives the telephone of another household. */
  strangers_phone: 0.03,
  /** Share of telephones: the number is written with spaces or hyphens. */
  spaced_phone: 0.15,
  /** The person gives no telephone, although the household has one. */
  no_phone: 0.1,
  /** The person has an email address. */
  email: 0.35,
  /** Share of the optional members of each document: the member is missing. */
  missing_member: 0.08,
  /** In civil documents: members that do not apply are "" instead of missing. */
  empty_string: 0.05,
  /** Share of codes: a code is written as a word, or a word as a code: "1" for employed, "Married" for M. */
  other_spelling: 0.15,
} as const
