/** Types of events in the life of a registry. */
import type { Population, RandomStream } from '../stream.ts'

/** An event as an existing system would publish it. */
export interface LifeEvent {
  readonly reg_event_type: string
  /** The whole record; or its identifier, and only the members of the record that have new values. */
  readonly record: object
}

/** One type of events of a kind of registry. */
export interface LifeEventType {
  /** The name of the type of event, such as `births`. */
  readonly name: string
  /** How often events of this type happen, compared with the other types of the kind. */
  readonly weight: number
  /** Makes an event for each changed record; none when no person is suitable. */
  readonly happen: (stream: RandomStream) => readonly LifeEvent[]
}

/** The state of the registry from which the events start. */
export interface RegistryStartState {
  /** The generated population to which the existing people belong. */
  readonly population: Population
  /** The number of documents that the registry has before the events. */
  readonly documents: number
  /** The number of the first new document. */
  readonly next: number
  /** Returns the current day as `YYYY-MM-DD`. */
  readonly today: () => string
}
