/** The text that is typed for a member of the draft, as it is typed: "1," is not yet a list of two. */
import { useState } from 'react'

/**
 * @param value what the draft has
 * @param show how a value of the draft is typed
 * @returns what is typed, as long as the draft has what it means; and what notes that it is typed, with what it means
 */
export function useTyped<Value, Typed>(
  value: Value,
  show: (value: Value) => Typed,
): readonly [typed: Typed, note: (typed: Typed, means: Value) => void] {
  const [last, setLast] = useState({ typed: show(value), means: value })
  const isSame = JSON.stringify(last.means) === JSON.stringify(value)
  return [isSame ? last.typed : show(value), (typed, means) => setLast({ typed, means })]
}
