/** The setting of tests of acts that wait for a second operator. */

import { addPurpose } from '@rollcall/admin/consents/purposes'
import { findParticipant } from '@rollcall/participants/store/participants'
import type { ActDeps } from '../../admin/src/approvals/acts.ts'
import { acting } from '../../admin/test/acting.ts'
import { keyPair } from '../../core/test/key-pairs.ts'
import { QUIET, type TestParticipant, type TestServer, testServer } from './server.ts'
/** The parts that an operator's admin functions need. */
export type OperatorDeps = TestServer['context'] & ActDeps

/** The way to an act: a call of the admin API, or the admin function as a command calls it. */
type Way = { readonly path: string; readonly body: object } | { readonly command: (deps: OperatorDeps) => Promise<unknown> }

export type ReadyAct = Way & {
  /** The command after `rollcall`; absent: there is none. */
  readonly words?: readonly string[]
  /** Standard input of the command. */
  readonly stdin?: string
  /** A text that the diff must show. */
  readonly shows: string
  /** Texts that the diff must not show: personal data, and secrets. */
  readonly hides: readonly string[]
  /** Does, as another operator, something after which the act cannot be done as proposed. */
  readonly meanwhile: () => Promise<unknown>
  /** The message of the refusal after `meanwhile`. */
  readonly refusal: RegExp
  /** Set for an act that shows something, and changes nothing. */
  readonly looks?: true
}

export const OUTDATED = /^what is stored has changed since it was proposed: propose it again$/
export const REASON = 'complaint 12 of Ada'
export const PEOPLE = 40
/** A UIN that is long enough not to be a part of a random id. */
export const uinOf = (index: number): string => `81285603${10 + index}`
const person = (uin: string) => ({
  '@type': 'CRVS_Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
  name: { surname: 'Okoro' },
})

/** Functions that make a fresh act, by the name of the act. */
export type ReadyActs = Readonly<Record<string, () => Promise<ReadyAct>>>

export type ActServer = Awaited<ReturnType<typeof actServer>>

/** Starts a server where acts wait for a second operator, even a replay of one delivery. */
export async function actServer(limits: { readonly checkpoint_entries?: number } = {}) {
  const env = { ROLLCALL_TWO_PERSON: '1', limits: { replay_deliveries: 0, ...limits } }
  const server = await testServer(env, undefined, QUIET)
  const { database, context } = server
  const { db } = database
  await server.registry(
    'civil',
    Array.from({ length: PEOPLE }, (_, index) => person(uinOf(index))),
  )
  await server.registry('civil', [], 'civil-test', 'sandbox')
  await addPurpose(acting(database), { code: 'eligibility' })
  const query = (text: string, values: unknown[] = []) => db.pool.query(text, values)
  const deps = { ...context, caller: { kind: 'shell', user: 'another' } as const }

  let count = 0
  const fresh = (): number => {
    count += 1
    return count
  }
  const uin = (): string => uinOf(fresh() % PEOPLE)
  const jwk = (kid = 'k-1') => JSON.stringify({ ...keyPair('Ed25519').jwk, kid })
  const peer = (...settings: Parameters<typeof server.participant> extends [string, ...infer More] ? More : []) =>
    server.participant(`peer-${fresh()}.example`, ...settings)
  const rowOf = async ({ sender_id }: Pick<TestParticipant, 'sender_id'>) => {
    const found = await findParticipant(db, sender_id)
    if (found === null) throw new Error('no such participant')
    return found
  }
  const of = ({ sender_id }: TestParticipant, what: string) => `/participants/${sender_id}/${what}`

  return { server, database, db, query, deps, fresh, uin, jwk, peer, rowOf, of }
}
