/** The cash transfer that people apply for, and its rules. */
import type { Answers, RegistryName } from './questions.ts'

export const PROGRAMME = {
  identifier: 'PRG-01',
  name: 'Winter Grant',
  /** Years. */
  youngest: 18,
  /** The highest score of the household; a lower score is a poorer household. */
  highest_poverty_score: 4,
} as const

export interface Decision {
  readonly decision: 'eligible' | 'not eligible' | 'to be checked'
  readonly reasons: readonly string[]
}

interface Rule {
  readonly applies: (answers: Answers) => boolean
  readonly reason: string
}

/** Any of them is enough for a no. */
const OBSTACLES: readonly Rule[] = [
  { applies: ({ dead }) => dead === true, reason: 'the applicant has died' },
  { applies: ({ minor }) => minor === true, reason: `the applicant is younger than ${PROGRAMME.youngest}` },
  { applies: ({ poor, better_off }) => better_off === true && poor === false, reason: 'the household is above the poverty line' },
  { applies: ({ enrolled }) => enrolled === true, reason: 'the applicant is enrolled already' },
]

/** What a person has to look into. Silence is never taken for a no, nor for a yes. */
const DOUBTS: readonly Rule[] = [
  { applies: ({ known }) => known === false, reason: 'the civil registry does not know the applicant' },
  {
    applies: ({ known, adult, minor }) => known === true && adult === false && minor === false,
    reason: 'the age of the applicant is not certain',
  },
  {
    applies: ({ poor, better_off }) => poor !== null && poor === better_off,
    reason: 'no poverty score, or no single one, is known of the household',
  },
]

/** @param silent registries that gave no answer about this applicant */
export function decide(answers: Answers, silent: readonly RegistryName[]): Decision {
  const reasonsOf = (rules: readonly Rule[]): string[] =>
    rules.filter(({ applies }) => applies(answers)).map(({ reason }) => reason)
  const obstacles = reasonsOf(OBSTACLES)
  if (obstacles.length > 0) return { decision: 'not eligible', reasons: obstacles }
  const doubts = [...silent.map((name) => `the ${name} registry gave no answer`), ...reasonsOf(DOUBTS)]
  if (doubts.length > 0) return { decision: 'to be checked', reasons: doubts }
  return { decision: 'eligible', reasons: [] }
}
