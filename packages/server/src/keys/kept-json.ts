/** JSON that we kept ourselves, read again. */
import { isJsonObject, JsonError, type JsonObject, type JsonValue, parseJson } from '@rollcall/protocol'
import { BodyClosed } from './bodies.ts'

/** Levels: more than a message may have that is taken (`limits.body_depth`), with a record's around it. */
const KEPT_DEPTH = 1_000

/**
 * A message that was kept as canonical JSON, however deep its records are.
 * @throws BodyClosed for what this version cannot read, such as a number that an earlier one took
 */
export function parseKept(text: string): JsonObject {
  const kept = parsed(text)
  if (!isJsonObject(kept)) throw new BodyClosed('altered')
  return kept
}

function parsed(text: string): JsonValue {
  try {
    return parseJson(text, { maxDepth: KEPT_DEPTH })
  } catch (error) {
    if (error instanceof JsonError) throw new BodyClosed('altered')
    throw error
  }
}
