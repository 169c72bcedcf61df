/** THE question whether a participant may do something: every part of the server asks it here. */
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'

/** What a participant wants to do, or to go on doing. */
export interface Wanted {
  /** The name of an operation or of a callback: `subscribe`, `unsubscribe`, `notify`. */
  readonly operation: string
  /** Canonical names. */
  readonly event_type?: string
  readonly record_type?: string
  /** The programme that is written, or asked about, as programmes compare. */
  readonly programme?: string
  /** Without a filter: about every record. */
  readonly unfiltered?: boolean
}

export type Permission =
  | { readonly allowed: true }
  /** @param reason a rule, for the participant to read */
  | { readonly allowed: false; readonly reason: string }

type Asker = Pick<Participant, 'status' | 'unfiltered_subscriptions'>

/** A rule that refuses, with its reason. */
interface Rule {
  readonly refuses: (participant: Asker, registry: Pick<Registry, 'id'>, wanted: Wanted) => boolean
  readonly reason: string
}

const RULES: readonly Rule[] = [
  { refuses: ({ status }) => status !== 'active', reason: 'this participant is disabled' },
  {
    refuses: ({ unfiltered_subscriptions }, _, { unfiltered }) =>
      unfiltered === true && !unfiltered_subscriptions,
    reason: 'this participant may not subscribe without a filter',
  },
]

/** An active participant may do everything that no rule refuses. */
export function may(participant: Asker, registry: Pick<Registry, 'id'>, wanted: Wanted): Permission {
  const refusing = RULES.find(({ refuses }) => refuses(participant, registry, wanted))
  return refusing === undefined ? { allowed: true } : { allowed: false, reason: refusing.reason }
}
