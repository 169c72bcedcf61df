/**
 * What is asked about an applicant. Each question is answered by yes or no: a registry gives the name of the record's type
 * where the answer is yes, and nothing of the person. No birth date, no name, no income comes here.
 */
import { graphql, type QueryCriteria } from '@rollcall/client'
import { PROGRAMME } from './programme.ts'

export type RegistryName = 'civil' | 'social' | 'ibr'

interface Question {
  readonly registry: RegistryName
  /** Conditions beside the identifier. */
  readonly conditions: string
  readonly record: string
}

const { identifier, youngest, highest_poverty_score } = PROGRAMME

export const QUESTIONS = {
  known: { registry: 'civil', record: 'person', conditions: '' },
  dead: { registry: 'civil', record: 'person', conditions: 'death_date: {exists: true}' },
  adult: { registry: 'civil', record: 'person', conditions: `age: {ge: ${youngest}}` },
  // Not the opposite of the one before: of a date of which only the year is known, neither may be true.
  minor: { registry: 'civil', record: 'person', conditions: `age: {lt: ${youngest}}` },
  poor: { registry: 'social', record: 'group', conditions: `poverty_score: {le: ${highest_poverty_score}}` },
  better_off: { registry: 'social', record: 'group', conditions: `poverty_score: {gt: ${highest_poverty_score}}` },
  enrolled: {
    registry: 'ibr',
    record: 'beneficiary',
    conditions: `enrolment: {programme_identifier: "${identifier}", enrolment_status: {in: ["Active", "Suspended"]}}`,
  },
} as const satisfies Record<string, Question>

export type QuestionName = keyof typeof QUESTIONS
export const QUESTION_NAMES = Object.keys(QUESTIONS) as readonly QuestionName[]

/** `null`: the registry gave no answer, which is not a no. */
export type Answers = Readonly<Record<QuestionName, boolean | null>>

/** The question about the person who has this UIN. */
export function criteriaFor(name: QuestionName, uin: string): QueryCriteria {
  const { record, conditions } = QUESTIONS[name]
  // A JSON string is a GraphQL string too.
  return graphql(`{ ${record}(UIN: ${JSON.stringify(uin)}, ${conditions}) { __typename } }`)
}
