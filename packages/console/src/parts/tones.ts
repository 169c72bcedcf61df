/** Tones of states, for the colour beside the word: a row for each word of the server. */

export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'quiet'

const TONES: Readonly<Record<string, Tone>> = {
  // deliveries
  delivered: 'good',
  pending: 'info',
  held: 'warn',
  refused: 'bad',
  dead: 'bad',
  dropped: 'quiet',
  // answers
  succeeded: 'good',
  partial: 'warn',
  rejected: 'bad',
  succ: 'good',
  pdng: 'info',
  rjct: 'bad',
  answered: 'good',
  accepted: 'info',
  failed: 'bad',
  // participants, keys, subscriptions, mailboxes
  active: 'good',
  disabled: 'quiet',
  revoked: 'quiet',
  expired: 'bad',
  cancelled: 'quiet',
  suspended: 'warn',
  paused: 'warn',
  open: 'good',
  closed: 'warn',
  // environments
  live: 'info',
  sandbox: 'quiet',
  // health, findings
  ok: 'good',
  warning: 'warn',
  error: 'bad',
  down: 'bad',
  // proposals
  waiting: 'info',
  approved: 'good',
  declined: 'quiet',
  lapsed: 'quiet',
  outdated: 'warn',
  done: 'good',
}

/** A word that has no row is shown without colour. */
export const toneOf = (word: string): Tone => TONES[word] ?? 'quiet'
