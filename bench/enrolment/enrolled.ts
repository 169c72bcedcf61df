/** Whether somebody is enrolled, asked of us and of a bare look-up: `floors/enrolled.ts`. */

import type { EnrolmentPlan } from '../enrolment.ts'
import { checkSameBytes, SIGNATURE_VARIABLE, signatureOf } from '../search/answers.ts'
import { ASKER_SENDER } from '../search/question.ts'
import { credentialsOf, filledRegistry, shuffledIdentifiers } from '../search/registry.ts'
import { authorization, endless, JSON_BODY } from '../search/setting.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import type { Row } from '../shared/results.ts'
import { compare, type Side } from '../shared/rounds.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import { BENEFICIARIES, enrolledQuestion } from './question.ts'

/** The least share of the floor's rate that a question must reach. */
const BAR = 0.7
/** One of this many answers is read as a whole. Of the others only the status is read. */
const READ_EVERY = 64

/** Measures, prints and writes `enrolment-enrolled.json`. */
export async function enrolled({ db, start }: BenchDatabase, plan: EnrolmentPlan): Promise<readonly Row[]> {
  const registry = await filledRegistry(db, plan.records, BENEFICIARIES)
  const people = endless(await shuffledIdentifiers(db, registry))
  const policy = { signature_policy: 'if-present', allow_unsigned: true } as const
  const credentials = await credentialsOf(db, ASKER_SENDER, policy)
  const rollcall = await start('servers/rollcall')
  const ours = `${rollcall.url}/${BENEFICIARIES.namespace}/v1.0.0/registry/sync/enrolled`
  const headers = async () => ({ ...JSON_BODY, Authorization: await authorization(rollcall, credentials) })

  const person = people.next().value
  const answer = await ask(ours, await headers(), person)
  const floor = await start('floors/enrolled', { [SIGNATURE_VARIABLE]: signatureOf(answer) })
  checkSameBytes(answer, await ask(`${floor.url}/enrolled`, JSON_BODY, person))

  const side = (process: ServerProcess, url: string, named: () => Promise<Record<string, string>>): Side => ({
    process,
    async prepare() {
      const next = () => {
        const asked = people.next().value
        return { asked, body: enrolledQuestion(asked) }
      }
      return { url, headers: await named(), next, check: spotChecks() }
    },
  })
  return compare(
    'enrolment-enrolled',
    db,
    { ours: side(rollcall, ours, headers), floor: side(floor, `${floor.url}/enrolled`, async () => JSON_BODY) },
    { ...plan, bar: BAR },
  )
}

async function ask(url: string, headers: Record<string, string>, person: string): Promise<string> {
  const response = await fetch(url, { method: 'POST', headers, body: enrolledQuestion(person) })
  const text = await response.text()
  checkAnswer(response.status, text, person)
  return text
}

function spotChecks(): (status: number, body: string, asked: string) => void {
  let answers = 0
  return (status, body, asked) => {
    answers += 1
    if (status !== 200 || answers % READ_EVERY === 1) checkAnswer(status, body, asked)
  }
}

/** Throws an Error unless it says of this person whether it is enrolled. */
function checkAnswer(status: number, body: string, person: string): void {
  if (status !== 200) throw new Error(`an answer has status ${status}`)
  const [item] = JSON.parse(body).message.enrolled_response
  if (item.reference_id !== person || !['yes', 'no'].includes(item.enrolled_status)) {
    throw new Error('an answer is not about the person')
  }
}
