/** Recorded questions about one person: of a beneficiary registry, an employment support system, a disability registry. */
import { operation } from '@rollcall/protocol'
import { generate } from '@rollcall/synthetic'
import { askingOf } from '../person-questions.ts'
import { bearer, type TestParticipant } from '../server.ts'
import type { Row } from './synchronous.ts'
import { RECORDS, SEED } from './world.ts'

/** Several people, so that every status is among them. */
const PEOPLE = 8

const OPERATIONS = [
  ['ibr', 'enrolled', 'enrolled_criteria', 'person_identifier'],
  ['ess', 'enrolment-status', 'enrolled_criteria', 'person_identifier'],
  ['disability', 'disabled', 'disabled_criteria', 'personal_details.member_identifier'],
  ['disability', 'disability-details', 'disabled_criteria', 'personal_details.member_identifier'],
  ['disability', 'disability-support', 'disabled_criteria', 'personal_details.member_identifier'],
] as const

const PROGRAMME = 'programme_identifier.programme.programme_identifier'

export function personQuestions(by: TestParticipant): readonly Row[] {
  return OPERATIONS.flatMap(([kind, name, member, attribute]) => {
    const { action, sync_paths } = operation(name)
    const people = [...generate(kind, { count: RECORDS, seed: SEED })].slice(0, PEOPLE).map(uinOf)
    const questions: readonly (readonly [string, object])[] = [
      ...people.map((uin, at) => [`person ${at}`, { [attribute]: { eq: uin } }] as const),
      ['nobody', { [attribute]: { eq: 'NOBODY' } }],
      ['spelled out', { attribute_name: attribute, operator: 'eq', attribute_value: people[0] }],
      ['two people', { [attribute]: { in: people.slice(0, 2) } }],
      ['unknown attribute', { shoe_size: { eq: '9' } }],
      ['in a programme', { [attribute]: { eq: people[0] }, [PROGRAMME]: { eq: 'PRG-01' } }],
    ]
    const path = `${kind}/v1.0.0/${sync_paths[0]}`
    return questions.map(([question, query]): Row => {
      const body = askingOf(by, action, { [member]: { query_type: 'expression', query } })
      return { name: `${name}: ${question}`, path, body, headers: bearer(by) }
    })
  })
}

/** The UIN of a document, from where its kind has it. */
function uinOf(document: object): string {
  const [, uin] = /"member_identifier":(?:\[\{.*?"identifier_value":)?"([^"]+)"/.exec(JSON.stringify(document)) ?? []
  if (uin === undefined) throw new Error('the document has no member identifier')
  return uin
}
