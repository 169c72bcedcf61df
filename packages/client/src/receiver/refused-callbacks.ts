/**
 * Remembers refused callbacks. When a caller waits for a callback and none comes in time, the caller's error quotes them. A
 * refused callback does not end the wait, because anybody can send one.
 */
import type { RequestFault } from '@rollcall/protocol'

/** The milliseconds before a wait in which refusals also count: a callback may come before its caller waits. */
const REFUSAL_LOOKBACK_MS = 5_000
/** The most refusals that are remembered. */
const MOST_REFUSALS = 100
const MOST_REFUSALS_IN_ERROR = 3
/** The longest text of a refusal, in characters. */
const MOST_REFUSAL_CHARACTERS = 120

/** The last refusals of one receiver. */
export class RefusedCallbacks {
  #recent: readonly { readonly at: number; readonly text: string }[] = []

  /** Remembers a refusal. @param sender_id the unknown sender, as sent; null when the refusal has another reason */
  note(at: number, { code, message }: RequestFault, sender_id: string | null): void {
    const text = sender_id === null ? `${code}, ${message}` : `sender ${sender_id} is unknown`
    this.#recent = [...this.#recent, { at, text: printableRefusalText(text) }].slice(-MOST_REFUSALS)
  }

  /**
   * The text to append to an error about a wait that began at `began`: the refusals since then, or shortly before; empty when
   * there are none.
   */
  since(began: number): string {
    const texts = new Set(this.#recent.filter(({ at }) => at >= began - REFUSAL_LOOKBACK_MS).map(({ text }) => text))
    if (texts.size === 0) return ''
    const more = texts.size > MOST_REFUSALS_IN_ERROR ? `; and ${texts.size - MOST_REFUSALS_IN_ERROR} more` : ''
    return `; refused meanwhile: ${[...texts].slice(0, MOST_REFUSALS_IN_ERROR).join('; ')}${more}`
  }
}

/** A peer's text, shortened, with control characters and invisible ones escaped. */
function printableRefusalText(text: string): string {
  const cut = text.length > MOST_REFUSAL_CHARACTERS ? `${text.slice(0, MOST_REFUSAL_CHARACTERS)}…` : text
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
