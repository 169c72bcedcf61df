/**
 * The rates of errors and gaps in the documents. Real registers have all these errors, and software that was only tested with
 * clean records fails on them. README.md lists the rates.
 */
export const ERROR_RATES = {
  /** Share of persons whose birth date is only a year: "1985". */
  birth_year_only: 0.02,
  /** Share of persons whose birth date is only a month: "1985-06". */
  birth_month_only: 0.02,
  /** Share of the full birth dates in civil documents that have a time, with no zone, with Z, or with an offset. */
  birth_date_time: 0.06,
  /** Share of the full birth dates in IBR documents that are written "02.05.2004". */
  birth_local_spelling: 0.2,
  /** Share of persons who have only a given_name or only a surname. */
  single_name: 0.03,
  /** Share of the households with accented names that write accents as combining characters (NFD). */
  decomposed_name: 0.5,
  /** Share of households with a telephone, which the members give as theirs. */
  household_phone: 0.85,
  /** Share of persons who give the telephone of another household. */
  strangers_phone: 0.03,
  /** Share of telephones that are written with spaces or hyphens. */
  spaced_phone: 0.15,
  /** Share of persons who give no telephone, among those whose household has one and who do not give the number of a stranger. */
  no_phone: 0.1,
  /** Share of persons who have an email address. */
  email: 0.35,
  /** Share of the optional members of each document that are missing. */
  missing_member: 0.08,
  /** Share of civil documents in which members that do not apply are "" instead of missing. */
  empty_string: 0.05,
  /** Share of codes in the unusual spelling: a word where a code is usual ("Married" for M), or a code for a word ("1"). */
  other_spelling: 0.15,
} as const
