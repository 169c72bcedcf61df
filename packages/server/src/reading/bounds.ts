/** What a body may hold, counted while it is read: before any time is spent on what lies beyond. */
import type { JsonBounds, Message } from '@rollcall/protocol'
import type { Limits } from '../limits.ts'

type Counted = Pick<Limits, 'body_depth' | 'body_values' | 'frame_values' | 'object_names'>

/** Of an envelope, whose items are refused above `batch_items` before their signature is looked at. */
export function envelopeBounds(
  limits: Counted & Pick<Limits, 'batch_items'>,
  { bulk, items }: Pick<Message, 'bulk' | 'items'>,
): JsonBounds {
  const paths = bulk === null ? [] : [['message', ...bulk]]
  const maxItems = items === null ? {} : { maxItems: limits.batch_items }
  return { ...allOf(limits), bulk: { paths, ...maxItems, maxOutside: limits.frame_values } }
}

/** Of a message that was encrypted. Who sent it is known, and is told by itself that its items are too many. */
export function messageBounds(limits: Counted, { bulk }: Pick<Message, 'bulk'>): JsonBounds {
  return { ...allOf(limits), bulk: { paths: bulk === null ? [] : [bulk], maxOutside: limits.frame_values } }
}

/** Levels of a message around each of its items: the body, the message, the array. */
const AROUND = 3

/** Of one item that stands in a file. */
export function itemBounds({ body_depth, frame_values, object_names }: Counted): JsonBounds {
  return {
    maxDepth: Math.max(1, body_depth - AROUND),
    maxValues: frame_values,
    maxNames: object_names,
  }
}

const allOf = ({ body_depth, body_values, object_names }: Counted): JsonBounds => ({
  maxDepth: body_depth,
  maxValues: body_values,
  maxNames: object_names,
})
