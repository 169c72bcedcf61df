/** The setting of benches of callbacks: records, participants who may be called back, and our server with its worker. */
import { randomUUID } from 'node:crypto'
import type { Database } from '@rollcall/database/database'
import {
  type CallbackSettings,
  MOST_CALLBACK_CONCURRENCY,
  NO_CALLBACK_SETTINGS,
  setCallbackSettings,
} from '@rollcall/participants/store/participant-callbacks'
import { findParticipant } from '@rollcall/participants/store/participants'
import { type Asker, NAMESPACE, questionsOf } from '../search/question.ts'
import { credentialsOf } from '../search/registry.ts'
import { authorization, type Identifiers, JSON_BODY } from '../search/setting.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import type { ServerProcess } from '../shared/server-process.ts'
import type { Receiver } from './receiver.ts'
import type { Question } from './send.ts'

/** A participant that asks and is called back. */
export interface Called extends Asker {
  readonly sender_uri: string
  /** `Participant.id` */
  readonly id: number
  /** Headers for the next requests. */
  headers(): Promise<Record<string, string>>
  /** Makes `count` questions, each for a message of its own. */
  questions(identifiers: Identifiers, count: number): readonly Question[]
}

/** Limits of the callbacks to a participant. */
type Pace = Pick<CallbackSettings, 'concurrency' | 'rate'>
/** The highest pace that can be set. */
const UNBOUNDED: Pace = { concurrency: MOST_CALLBACK_CONCURRENCY, rate: 10_000 }
/** The limits of a participant for whom nothing is set. */
export const DEFAULT_CALLBACKS: Pace = { concurrency: NO_CALLBACK_SETTINGS.concurrency, rate: NO_CALLBACK_SETTINGS.rate }

/** Our server as it is served, answering peers and working on jobs. */
export const startRollcall = ({ start }: BenchDatabase): Promise<ServerProcess> =>
  start('servers/rollcall', { ROLLCALL_ROLE: 'all' })

export const searchAddress = ({ url }: ServerProcess): string => `${url}/${NAMESPACE}/v1.0.0/registry/search`

/**
 * Makes a participant known. It is not held back in what it asks; its callbacks go to the receiver, to an address of its own.
 */
export async function registerCalled(
  db: Database,
  rollcall: ServerProcess,
  receiver: Pick<Receiver, 'address'>,
  sender_id: string,
  pace: Pace = UNBOUNDED,
): Promise<Called> {
  const credentials = await credentialsOf(db, sender_id, {
    signature_policy: 'if-present',
    allow_unsigned: true,
    outgoing: [{ host: '127.0.0.1', loopback: true, plainHttp: true, ports: 'any' }],
  })
  const participant = await findParticipant(db, sender_id)
  if (participant === null) throw new Error(`there is no participant ${sender_id}`)
  const sender_uri = receiver.address(sender_id)
  await setCallbackSettings(db, participant.id, { allowed: ['http://127.0.0.1:*'], ...pace })
  const ask = questionsOf({ sender_id, sender_uri })
  return {
    sender_id,
    sender_uri,
    id: participant.id,
    headers: async () => ({ ...JSON_BODY, Authorization: await authorization(rollcall, credentials) }),
    questions: (identifiers, count) =>
      Array.from({ length: count }, () => {
        const asked = identifiers.next().value
        const transaction_id = randomUUID()
        return { asked, transaction_id, body: ask(asked, transaction_id) }
      }),
  }
}
