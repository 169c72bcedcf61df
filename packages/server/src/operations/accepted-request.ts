/** The request of an accepted exchange, as it is kept. */
import { operation } from '@rollcall/protocol'
import type { Holding } from '../admission/held-bytes.ts'
import type { Context } from '../context.ts'
import { BodyUnreadable, parsePersisted } from '../keys/bodies.ts'
import { type Exchange, type Message, requestContext } from '../model/exchange.ts'
import { wholeMessage } from '../reading/large.ts'
import { nameOf } from '../reading/rows.ts'
import { LARGE } from '../reading/threads.ts'
import { perPool } from '../store/db/per-pool.ts'
import { type AcceptedExchange, findRequest } from '../store/exchanges/accepted-exchanges.ts'
import { createInTurn } from './in-turn.ts'

/** What was checked when it was accepted. */
export interface AcceptedRequest {
  readonly header: Exchange['header']
  readonly message: Message
}

/**
 * A large one is to be opened by those alone who have room for it, or their turn: open it is several times as large.
 * @throws BodyUnreadable
 */
export async function openRequest(
  context: Pick<Context, 'db' | 'bodies'> & Partial<Pick<Context, 'reading'>>,
  accepted: Pick<AcceptedExchange, 'correlation_id' | 'request'> &
    Partial<Pick<AcceptedExchange, 'operation' | 'participant'>>,
): Promise<AcceptedRequest> {
  const sealed = accepted.request ?? (await findRequest(context.db, accepted.correlation_id))
  if (sealed === null) throw new BodyUnreadable('forgotten')
  const text = await context.bodies.decryptBody(sealed, requestContext(accepted))
  const { reading } = context
  const { operation: name, participant } = accepted
  if (text.length >= LARGE && reading !== undefined && name !== undefined && participant !== undefined) {
    return openLarge(reading, { name, participant }, text)
  }
  return parsePersisted(text) as unknown as AcceptedRequest
}

async function openLarge(
  reading: Context['reading'],
  { name, participant }: { readonly name: string; readonly participant: number },
  text: string,
): Promise<AcceptedRequest> {
  const row = operation(name)
  const kept = await reading.run(participant, 'kept', { text, row: nameOf(row) })
  if (kept === null) throw new BodyUnreadable('altered')
  const message = await wholeMessage(row, kept.message, 'values')
  return { header: kept.header as unknown as AcceptedRequest['header'], message }
}

/** Room for the request while a job has it open, to be released then; null when there is none. Small ones need none. */
export function roomFor(
  { openRequests }: Pick<Context, 'openRequests'>,
  { participant, request, request_bytes }: AcceptedExchange,
): Pick<Holding, 'release'> | null {
  const room = openRequests.begin(participant)
  return request !== null || room.add(request_bytes) === 'held' ? room : null
}

/**
 * What those who ask about an exchange want to know of its request. Large ones are read one after the other.
 * @throws BodyUnreadable
 */
export function readRequest<Result>(
  context: Pick<Context, 'db' | 'bodies'>,
  accepted: AcceptedExchange,
  read: (request: AcceptedRequest) => Result,
): Promise<Result> {
  const work = async (): Promise<Result> => read(await openRequest(context, accepted))
  return accepted.request === null ? inTurn(context, work) : work()
}

/** Does work with something large when all such work of this node that began before is over. */
export const inTurn = <Result>({ db }: Pick<Context, 'db'>, work: () => Promise<Result>): Promise<Result> =>
  turns(db.pool)(work)

const turns = perPool(createInTurn)
