/** Reads the body of a request: its type, its size, its text, and the limits of its values. */
import { type AcceptedTypes, bodyTypeProblem, type JsonBounds, type Message, RequestFault } from '@rollcall/protocol'
import { BodyProblem, readText } from '../http/read-text.ts'

const STATUS = { too_large: 413, broken: 400, not_utf8: 400 } as const

/** @throws RequestFault err.request.bad: 405, 415, 413, 400 */
export async function readRequest(request: Request, maxBytes: number, accepted: AcceptedTypes): Promise<string> {
  if (request.method !== 'POST') throw bad('the method must be POST', 405)
  const problem = bodyTypeProblem(accepted, (name) => request.headers.get(name))
  if (problem !== null) throw bad(problem, 415)
  try {
    return await readText(request, maxBytes)
  } catch (error) {
    if (!(error instanceof BodyProblem)) throw error
    throw bad(`body: ${error.message}`, STATUS[error.kind])
  }
}

const bad = (message: string, status: number): RequestFault => new RequestFault('err.request.bad', message, status)

/** Values outside the member of a message that may hold many. */
const MAX_OUTSIDE = 10_000
/** Names of any one object. */
const MAX_NAMES = 1_000

/** Limits of an envelope with one of these messages. */
export function envelopeBounds(maxValues: number, messages: readonly Message[]): JsonBounds {
  const paths = messages.flatMap(({ bulk }) => bulk.map((path) => ['message', ...path]))
  return { maxValues, maxNames: MAX_NAMES, bulk: { paths, maxOutside: MAX_OUTSIDE } }
}

/** Limits of an encrypted message. */
export function messageBounds(maxValues: number, { bulk }: Message): JsonBounds {
  return { maxValues, maxNames: MAX_NAMES, bulk: { paths: bulk, maxOutside: MAX_OUTSIDE } }
}
