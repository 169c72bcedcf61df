/** The request of an accepted exchange, as it is kept. */
import type { Context } from '../context.ts'
import { type Exchange, type Message, requestContext } from '../exchange.ts'
import { parseKept } from '../kept-json.ts'
import { BodyClosed } from '../keys/bodies.ts'
import type { Holding } from '../participants/held-bytes.ts'
import { type AcceptedExchange, findRequest } from '../store/accepted-exchanges.ts'
import { perPool } from '../store/per-pool.ts'
import { createInTurn } from './in-turn.ts'

/** What was checked when it was accepted. */
export interface AcceptedRequest {
  readonly header: Exchange['header']
  readonly message: Message
}

/**
 * A large one is to be opened by those alone who have room for it, or their turn: open it is several times as large.
 * @throws BodyClosed
 */
export async function openRequest(
  context: Pick<Context, 'db' | 'bodies'>,
  accepted: Pick<AcceptedExchange, 'correlation_id' | 'request'>,
): Promise<AcceptedRequest> {
  const sealed = accepted.request ?? (await findRequest(context.db, accepted.correlation_id))
  if (sealed === null) throw new BodyClosed('forgotten')
  const text = await context.bodies.openBody(sealed, requestContext(accepted))
  return parseKept(text) as unknown as AcceptedRequest
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
 * @throws BodyClosed
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
