/** THE table of tones: for each word of a state from the server, the colour beside the word. */

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'

const TONE_BY_WORD: Readonly<Record<string, Tone>> = {
  // States of deliveries.
  delivered: 'good',
  pending: 'info',
  held: 'warn',
  refused: 'bad',
  dead: 'bad',
  dropped: 'quiet',
  // Outcomes of answers.
  succeeded: 'good',
  partial: 'warn',
  rejected: 'bad',
  succ: 'good',
  pdng: 'info',
  rjct: 'bad',
  answered: 'good',
  accepted: 'info',
  failed: 'bad',
  // States of participants, operator tokens and mailboxes. Keys and subscriptions have tables of their own.
  active: 'good',
  disabled: 'quiet',
  revoked: 'quiet',
  expired: 'bad',
  cancelled: 'quiet',
  suspended: 'warn',
  paused: 'warn',
  open: 'good',
  closed: 'warn',
  // Environments.
  live: 'info',
  sandbox: 'quiet',
  // States of health and of findings.
  ok: 'good',
  warning: 'warn',
  error: 'bad',
  down: 'bad',
  // States of proposals.
  waiting: 'info',
  approved: 'good',
  declined: 'quiet',
  lapsed: 'quiet',
  outdated: 'warn',
  done: 'good',
}

/** The tone of a word; `quiet` for a word without a row. */
export const toneOfWord = (word: string): Tone => TONE_BY_WORD[word] ?? 'quiet'
