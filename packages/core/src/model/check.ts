/** The check of a sandbox participant: which steps its system has done, according to our records. */
import type { Participant } from './participant.ts'
import type { Registry } from './registry.ts'

/** The participant and the registry whose messages are checked. */
export interface CheckedSystem {
  readonly participant: Pick<Participant, 'id'>
  readonly registry: Pick<Registry, 'id'>
  /** Messages before this time are not checked. */
  readonly since: Date
}

/** The states of a step. `skipped`: not needed, because the grant lacks the operation, or no callback address is allowed. */
export const STEP_STATES = ['passed', 'missing', 'skipped'] as const

export interface CheckStep {
  readonly name: string
  readonly state: (typeof STEP_STATES)[number]
  /** The result, or what the participant has to do. It has no names of persons, and nothing from a message. */
  readonly text: string
}
