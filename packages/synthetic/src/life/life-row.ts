/** Rows of what can happen in a registry, and the events that they make. */
import type { Population, Stream } from '../stream.ts'

/** An event as an existing system would publish it. */
export interface LifeEvent {
  readonly reg_event_type: string
  /** The record, or its new members. */
  readonly record: object
}

export interface LifeRow {
  /** A name such as `births`. */
  readonly name: string
  /** How often it happens, compared with the other rows of the kind. */
  readonly weight: number
  /** An event for each changed record; none when there is no suitable person. */
  readonly happen: (stream: Stream) => readonly LifeEvent[]
}

/** Where a life begins. */
export interface Beginning {
  /** The seed from which the existing people were made. */
  readonly population: Population
  /** Number of existing documents, whose ordinals are below it. */
  readonly documents: number
  /** Ordinal of the first new document. */
  readonly next: number
  /** The day, as `YYYY-MM-DD`. */
  readonly today: () => string
}
