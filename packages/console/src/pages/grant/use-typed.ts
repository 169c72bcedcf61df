/** Keeps the typed text of a field beside the value in the draft: the value alone would lose a comma that ends the text "1,". */
import { useState } from 'react'

/**
 * Returns the text of a field: the typed text, as long as the draft has the value that this text means; for another value, the
 * text that `show` makes of it.
 * @param value the value in the draft
 * @returns the text; and a function to call with each typed text and its value
 */
export function useFieldText<Value, Typed>(
  value: Value,
  show: (value: Value) => Typed,
): readonly [typed: Typed, note: (typed: Typed, means: Value) => void] {
  const [last, setLast] = useState({ typed: show(value), means: value })
  const isSame = JSON.stringify(last.means) === JSON.stringify(value)
  return [isSame ? last.typed : show(value), (typed, means) => setLast({ typed, means })]
}
