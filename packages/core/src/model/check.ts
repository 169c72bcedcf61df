/** The check of a sandbox participant: which steps its system has gone through, as our own records show it. */
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/** Whose messages are looked at. */
export interface CheckedSystem {
  readonly participant: Pick<Participant, 'id'>
  readonly registry: Pick<Registry, 'id'>
  /** Messages that were seen before this time do not count. */
  readonly since: Date
}

/** `skipped`: the grant of the participant does not have the operation, so it is not asked for. */
export const STEP_STATES = ['passed', 'missing', 'skipped'] as const

export interface CheckStep {
  readonly name: string
  readonly state: (typeof STEP_STATES)[number]
  /** What was seen, or what to do. It names no person and repeats nothing of a message. */
  readonly text: string
}
