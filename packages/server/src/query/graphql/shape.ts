/** What a selection keeps of a record. */
import { isJsonObject, type JsonObject, type JsonValue } from '@rollcall/protocol'
import type { Selection } from './selection.ts'

/**
 * The chosen members of an object under the names they were asked by; null where the object does not have one. Lists
 * stay lists and single objects single: the record decides, not its documented shape.
 */
export function shapeOf(selection: Selection, object: JsonObject): JsonObject {
  return Object.fromEntries(
    selection.chosen.map(({ name, read, of }) => {
      if (read === null) return [name, selection.type]
      const held = read(object)
      return [name, of === undefined ? (held ?? null) : shapeEach(of, held)]
    }),
  )
}

/** What is no object has none of the members. An array right inside an array holds nothing, as in a search. */
function shapeEach(selection: Selection, held: JsonValue | undefined): JsonValue {
  if (Array.isArray(held)) return held.map((element) => shapeOne(selection, element))
  return shapeOne(selection, held)
}

function shapeOne(selection: Selection, held: JsonValue | undefined): JsonValue {
  return isJsonObject(held) ? shapeOf(selection, held) : null
}
