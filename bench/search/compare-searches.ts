/** A search of ours beside its floor: what both are asked, what of their answers is read. */

import type { MessagePolicy } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import type { Row } from '../shared/results.ts'
import { compare, type Side } from '../shared/rounds.ts'
import type { SERVERS } from '../shared/servers.ts'
import { checkAnswer, checkSameBytes, FLOOR_VARIABLE, SIGNATURE_VARIABLE, signatureOf } from './answers.ts'
import { endless, type Identifiers, JSON_BODY, type Target, withSetting } from './setting.ts'

/** One of this many answers is read as a whole. Of the others only the status is read. */
const READ_EVERY = 64

export interface Question {
  readonly body: string
  /** The identifier that it searches for. */
  readonly asked: string
}

/** Questions to send. */
export interface Stock {
  /** Gets so many ready, while nothing is measured. */
  ready(count: number): Promise<void>
  /** Throws an Error when none is left. */
  next(): Question
}

/** A way to search, which is compared with others. */
export interface Variant {
  /** Its bench and its results. */
  readonly name: string
  readonly floor: keyof typeof SERVERS
  /** The message policy of the participant who searches. */
  readonly policy: Partial<MessagePolicy>
  /** Makes known to the registry what it needs beside the policy. */
  register?(db: Database): Promise<void>
  /** The least shares of the floors' rates that it must reach; `plain`: of those of `OTHER_FLOORS`. */
  readonly bars: { readonly entry: number; readonly plain: number }
  /** The answers of ours are cut by a grant, those of the floor are whole. */
  readonly cut?: true
  /** Questions for these identifiers, each a message of its own. */
  stock(identifiers: Identifiers): Stock
}

/** Measures, prints and writes `<name>.json`. */
export function compareSearches(args: readonly string[], variant: Variant): Promise<readonly Row[]> {
  return withSetting(args, variant.policy, async ({ db, plan, otherFloor, identifiers, rollcall, start }) => {
    await variant.register?.(db)
    const ask = async ({ url, headers }: Target, identifier: string): Promise<string> => {
      const stock = variant.stock(endless([identifier]))
      await stock.ready(1)
      const { body } = stock.next()
      const response = await fetch(url, { method: 'POST', headers: await headers(), body })
      const text = await response.text()
      checkAnswer(response.status, text, identifier)
      return text
    }
    const stock = variant.stock(identifiers)
    const side = ({ url, headers, process }: Target): Side => ({
      process,
      async prepare(requests) {
        await stock.ready(requests)
        return { url, headers: await headers(), next: stock.next, check: spotChecks() }
      },
    })
    const identifier = identifiers.next().value
    const answer = await ask(rollcall, identifier)
    const more = { [SIGNATURE_VARIABLE]: signatureOf(answer), ...(otherFloor && { [FLOOR_VARIABLE]: otherFloor }) }
    const process = await start(variant.floor, more)
    const floor = { url: `${process.url}/search`, process, headers: async () => JSON_BODY }
    const whole = await ask(floor, identifier)
    if (variant.cut !== true) checkSameBytes(answer, whole)
    const sides = { ours: side(rollcall), floor: side(floor) }
    const name = otherFloor === undefined ? variant.name : `${variant.name}-${otherFloor}-floor`
    return compare(name, db, sides, { ...plan, bar: variant.bars[otherFloor === undefined ? 'entry' : 'plain'] })
  })
}

function spotChecks(): (status: number, body: string, asked: string) => void {
  let answers = 0
  return (status, body, asked) => {
    answers += 1
    if (status !== 200 || answers % READ_EVERY === 1) checkAnswer(status, body, asked)
  }
}
