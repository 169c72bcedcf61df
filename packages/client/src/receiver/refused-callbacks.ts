/** Refused callbacks, for the message of a wait that ends in vain. They end no wait, because anybody can send them. */
import type { RequestFault } from '@rollcall/protocol'

/** Milliseconds: a callback may come before its caller begins to wait. */
const BEFORE = 5_000
/** Refusals that are remembered. */
const MOST = 100
const MOST_NAMED = 3
/** Characters of one refusal. */
const LONGEST = 120

export class RefusedCallbacks {
  #recent: readonly { readonly at: number; readonly text: string }[] = []

  /** @param sender_id the unknown sender, as it was sent; null when the refusal has another reason */
  note(at: number, { code, message }: RequestFault, sender_id: string | null): void {
    const text = sender_id === null ? `${code}, ${message}` : `sender ${sender_id} is unknown`
    this.#recent = [...this.#recent, { at, text: shown(text) }].slice(-MOST)
  }

  /** The end of a sentence about a wait that began at `began`; empty where nothing was refused meanwhile. */
  since(began: number): string {
    const texts = new Set(this.#recent.filter(({ at }) => at >= began - BEFORE).map(({ text }) => text))
    if (texts.size === 0) return ''
    const more = texts.size > MOST_NAMED ? `; and ${texts.size - MOST_NAMED} more` : ''
    return `; refused meanwhile: ${[...texts].slice(0, MOST_NAMED).join('; ')}${more}`
  }
}

/** A peer's text, cut; control characters and invisible ones are escaped. */
function shown(text: string): string {
  const cut = text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text
  return cut.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)
}
