/** Decides whether a participant may do something. Every part of the server asks this function. */
import { type Grant, type Granted, isGranted } from '../model/grant.ts'

/** The act that a participant wants to do, or to continue. Names are canonical. */
export interface Wanted {
  /** The name of an operation. */
  readonly operation: string
  readonly event_type?: string
  readonly record_type?: string
  /** The key of the programme to be written (`programmeKey`). */
  readonly programme?: string
  /** Whether it is about every record, without a filter. */
  readonly unfiltered?: boolean
}

export type Permission =
  | { readonly allowed: true }
  /** @param reason the rule that refuses, in words for the participant */
  | { readonly allowed: false; readonly reason: string }

/** A rule that refuses, with its reason. */
interface Rule {
  readonly refuses: (grant: Grant, wanted: Wanted) => boolean
  readonly reason: string
}

const isMissing = (granted: Granted, name: string | undefined): boolean =>
  name !== undefined && !isGranted(granted, name)

const RULES: readonly Rule[] = [
  {
    refuses: ({ operations }, { operation }) => isMissing(operations, operation),
    reason: 'this operation is not granted to this participant',
  },
  {
    refuses: ({ recordTypes }, { record_type }) => isMissing(recordTypes, record_type),
    reason: 'this record type is not granted to this participant',
  },
  {
    refuses: ({ eventTypes }, { event_type }) => isMissing(eventTypes, event_type),
    reason: 'this event type is not granted to this participant',
  },
  {
    refuses: ({ programmes }, { programme }) => isMissing(programmes, programme),
    reason: 'this programme is not granted to this participant',
  },
  {
    refuses: ({ terms }, { unfiltered }) => unfiltered === true && terms.unfiltered !== true,
    reason: 'this participant may not subscribe without a filter',
  },
]

export const NOTHING_GRANTED = 'nothing in this registry is granted to this participant'

/** @param grant the grant in force; null: there is none, and nothing is allowed */
export function may(grant: Grant | null, wanted: Wanted): Permission {
  if (grant === null) return { allowed: false, reason: NOTHING_GRANTED }
  const refusing = RULES.find(({ refuses }) => refuses(grant, wanted))
  return refusing === undefined ? { allowed: true } : { allowed: false, reason: refusing.reason }
}
