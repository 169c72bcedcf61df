/** A search of ours beside its floor: what both are asked, what of their answers is read. */
import type { Database, SealPolicy } from '@rollcall/server'
import { compare, type Side } from '../shared/rounds.ts'
import { checkAnswer, checkSameBytes, SIGNATURE_VARIABLE, signatureOf } from './answers.ts'
import { endless, type Identifiers, JSON_BODY, type Target, withSetting } from './setting.ts'

/** What a search must reach of its floor. */
const BAR = 0.7
/** One answer in so many is read as a whole, the others by their status alone. */
const READ_EVERY = 64

export interface Question {
  readonly body: string
  /** The identifier that it searches for. */
  readonly asked: string
}

/** One way to search. */
export interface Variant {
  /** Its bench, its results and its module in `floors/`. */
  readonly name: string
  /** What is agreed with the one who asks. */
  readonly policy: Partial<SealPolicy>
  /** Makes known to the registry what it needs beside the policy. */
  register?(db: Database): Promise<void>
  /** So many questions, or as many as are asked for; each a message of its own. */
  questions(identifiers: Identifiers, count: number): Promise<Iterator<Question>>
}

/** Measures, prints and writes `bench/results/<name>.json`; false when the bar is missed. */
export function compareSearches(args: readonly string[], variant: Variant): Promise<boolean> {
  return withSetting(args, variant.policy, async ({ db, plan, identifiers, rollcall, startFloor }) => {
    await variant.register?.(db)
    const prepare = async ({ url, headers }: Target, of: Identifiers, requests: number) => {
      const questions = await variant.questions(of, requests)
      return { url, headers: await headers(), next: () => following(questions), check: spotChecks() }
    }
    const ask = async (target: Target, identifier: string): Promise<string> => {
      const { url, headers, next } = await prepare(target, endless([identifier]), 1)
      const response = await fetch(url, { method: 'POST', headers, body: next().body })
      const text = await response.text()
      checkAnswer(response.status, text, identifier)
      return text
    }
    const side = (target: Target): Side => ({
      process: target.process,
      prepare: (requests) => prepare(target, identifiers, requests),
    })
    const identifier = identifiers.next().value
    const answer = await ask(rollcall, identifier)
    const process = await startFloor(`${variant.name}.ts`, { [SIGNATURE_VARIABLE]: signatureOf(answer) })
    const floor = { url: `${process.url}/search`, process, headers: async () => JSON_BODY }
    checkSameBytes(answer, await ask(floor, identifier))
    const sides = { ours: side(rollcall), floor: side(floor) }
    return compare(variant.name, sides, { ...plan, bar: BAR })
  })
}

function following(questions: Iterator<Question>): Question {
  const { done, value } = questions.next()
  if (done) throw new Error('a server was faster than expected: no more questions are at hand')
  return value
}

function spotChecks(): (status: number, body: string, asked: string) => void {
  let answers = 0
  return (status, body, asked) => {
    answers += 1
    if (status !== 200 || answers % READ_EVERY === 1) checkAnswer(status, body, asked)
  }
}
