/** Keeps the text for a member of the draft while it is typed: "1," is not yet a list of two. */
import { useState } from 'react'

/**
 * @param value value in the draft
 * @param show the text of a value
 * @returns the typed text, while the draft has its value; and a function that notes a typed text with its value
 */
export function useTyped<Value, Typed>(
  value: Value,
  show: (value: Value) => Typed,
): readonly [typed: Typed, note: (typed: Typed, means: Value) => void] {
  const [last, setLast] = useState({ typed: show(value), means: value })
  const isSame = JSON.stringify(last.means) === JSON.stringify(value)
  return [isSame ? last.typed : show(value), (typed, means) => setLast({ typed, means })]
}
