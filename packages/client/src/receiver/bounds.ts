/** What the body of a callback may hold, counted while it is read: whoever sent it is not known before. */
import { CALLBACKS, type Callback, type JsonBounds } from '@rollcall/protocol'

/** Values outside the member of a message that may hold many. */
const MAX_OUTSIDE = 10_000
/** Names of any one object. */
const MAX_NAMES = 1_000

/** Of an envelope of which it is not known yet which callback it is. */
export function envelopeBounds(maxValues: number): JsonBounds {
  const paths = CALLBACKS.flatMap(({ message: { bulk } }) => (bulk === null ? [] : [['message', ...bulk]]))
  return { maxValues, maxNames: MAX_NAMES, bulk: { paths, maxOutside: MAX_OUTSIDE } }
}

/** Of a message that was encrypted. */
export function messageBounds(maxValues: number, { message: { bulk } }: Callback): JsonBounds {
  const paths = bulk === null ? [] : [bulk]
  return { maxValues, maxNames: MAX_NAMES, bulk: { paths, maxOutside: MAX_OUTSIDE } }
}
