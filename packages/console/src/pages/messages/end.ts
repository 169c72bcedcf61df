/** How a message ended: an answer that was not delivered has not succeeded. */
import { type Tone, toneOfWord } from '../../parts/tones.ts'
import { MESSAGE_ENDS } from '../../texts/messages.ts'

interface MessageOutcome {
  readonly kind: string
  readonly outcome: string
  /** The state of the message's delivery; null: the message has no delivery, or the delivery is not stored any more. */
  readonly delivery: string | null
}

/** Returns the words and the colour that say how a message ended. */
export function messageOutcomeLabel({ kind, outcome, delivery }: MessageOutcome): {
  readonly label: string
  readonly tone: Tone
} {
  const words = MESSAGE_ENDS.made[kind]
  if (words === undefined || delivery === 'delivered') return { label: outcome, tone: toneOfWord(outcome) }
  const made = words[outcome] ?? outcome
  if (delivery === null) return { label: made, tone: outcome === 'rejected' ? 'bad' : 'quiet' }
  return { label: `${made}, ${MESSAGE_ENDS.delivery[delivery] ?? delivery}`, tone: toneOfWord(delivery) }
}
