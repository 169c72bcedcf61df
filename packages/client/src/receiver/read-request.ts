/** Reads the body of a request: checks its type and size, and defines the limits of its values. */
import { type AcceptedTypes, bodyTypeProblem, type JsonBounds, type Message, RequestFault } from '@rollcall/protocol'
import { BodyProblem, readText } from '../http/read-text.ts'

const STATUS_OF_BODY_PROBLEM = { too_large: 413, broken: 400, not_utf8: 400 } as const

/** Reads the body as text. @throws RequestFault err.request.bad, with status 405, 415, 413 or 400 */
export async function readRequest(request: Request, maxBytes: number, accepted: AcceptedTypes): Promise<string> {
  if (request.method !== 'POST') throw badBody('the method must be POST', 405)
  const problem = bodyTypeProblem(accepted, (name) => request.headers.get(name))
  if (problem !== null) throw badBody(problem, 415)
  try {
    return await readText(request, maxBytes)
  } catch (error) {
    if (!(error instanceof BodyProblem)) throw error
    throw badBody(`body: ${error.message}`, STATUS_OF_BODY_PROBLEM[error.kind])
  }
}

const badBody = (message: string, status: number): RequestFault => new RequestFault('err.request.bad', message, status)

/** The largest number of JSON values in a text, without the values in the long lists, whose paths `Message.bulk` gives. */
const MAX_VALUES_OUTSIDE_LONG_LISTS = 10_000
/** The largest number of member names in one JSON object. */
const MAX_MEMBER_NAMES = 1_000

/** The limits for parsing an envelope that has one of these messages. */
export function envelopeBounds(maxValues: number, messages: readonly Message[]): JsonBounds {
  const paths = messages.flatMap(({ bulk }) => bulk.map((path) => ['message', ...path]))
  return { maxValues, maxNames: MAX_MEMBER_NAMES, bulk: { paths, maxOutside: MAX_VALUES_OUTSIDE_LONG_LISTS } }
}

/** The limits for parsing the decrypted text of an encrypted message. */
export function messageBounds(maxValues: number, { bulk }: Message): JsonBounds {
  return { maxValues, maxNames: MAX_MEMBER_NAMES, bulk: { paths: bulk, maxOutside: MAX_VALUES_OUTSIDE_LONG_LISTS } }
}
