/** What a life is made of: rows of what can happen, and the events that they make. */
import type { Population, Stream } from '../stream.ts'

/** One event: what an existing system would publish. */
export interface LifeEvent {
  readonly reg_event_type: string
  /** The record, or the members of it that are new. */
  readonly record: object
}

/** One thing that can happen in a registry of a kind. */
export interface LifeRow {
  /** Such as `births`. */
  readonly name: string
  /** How often it happens, compared with the other rows of the kind. */
  readonly weight: number
  /** An event for each record that it changes; none where there is nobody to whom it could happen. */
  readonly happen: (stream: Stream) => readonly LifeEvent[]
}

/** Where a life begins. */
export interface Beginning {
  /** Of the people who are there already. */
  readonly population: Population
  /** How many documents are there: those of the ordinals below it. */
  readonly documents: number
  /** Ordinal of the first that is new. */
  readonly next: number
  /** The day, as `YYYY-MM-DD`. */
  readonly today: () => string
}
