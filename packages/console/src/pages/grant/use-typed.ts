/** Keeps the typed text of a field beside the value in the draft: "1," is not a list of two yet. */
import { useState } from 'react'

/**
 * Keeps a typed text while the draft has its value.
 * @param value the value in the draft
 * @param show returns a value as text
 * @returns the typed text; and a function that takes a typed text with its value
 */
export function useTypedText<Value, Typed>(
  value: Value,
  show: (value: Value) => Typed,
): readonly [typed: Typed, note: (typed: Typed, means: Value) => void] {
  const [last, setLast] = useState({ typed: show(value), means: value })
  const isSame = JSON.stringify(last.means) === JSON.stringify(value)
  return [isSame ? last.typed : show(value), (typed, means) => setLast({ typed, means })]
}
