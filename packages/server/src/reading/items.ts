/** A batch of items as text, in pieces that are short enough to be read one after the other without a stop. */

import { setImmediate as turn } from 'node:timers/promises'
import { CanonicalText, canonicalJson, isJsonObject, type JsonValue } from '@rollcall/protocol'
import { referenceId } from '../model/reference-id.ts'

/** Canonical JSON of arrays which, one after the other, hold all items. */
export interface Items {
  readonly pieces: readonly string[]
  readonly count: number
  /** Of each, as its answer names it. */
  readonly reference_ids: readonly string[]
}

/** Items of one piece: what is read in about a millisecond. */
const PIECE = 100

export function itemsText(items: readonly JsonValue[]): Items {
  const pieces: string[] = []
  for (let from = 0; from < items.length; from += PIECE) {
    pieces.push(canonicalJson(items.slice(from, from + PIECE)))
  }
  const reference_ids = items.map((item) => referenceId(isJsonObject(item) ? item : {}))
  return { pieces, count: items.length, reference_ids }
}

/** All of them as one array, to be written and not to be read. */
export const asText = ({ pieces }: Items): CanonicalText =>
  new CanonicalText(`[${pieces.map((piece) => piece.slice(1, -1)).join(',')}]`)

/** All of them as values. Between two pieces others have their turn. */
export async function asValues({ pieces }: Items): Promise<JsonValue[]> {
  const values: JsonValue[] = []
  for (const piece of pieces) {
    // It was written here, so there is nothing in it to be refused.
    values.push(...(JSON.parse(piece) as JsonValue[]))
    await turn()
  }
  return values
}
