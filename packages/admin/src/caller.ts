/** The callers of acts: every act has a caller, and THE table here says which acts each kind of caller may do. */
import type { Operator } from '@rollcall/core/model/operator'

export type Caller =
  | {
      readonly kind: 'operator'
      /** The operator who has the token, or is signed in. */
      readonly operator: Operator
      /**
       * True when an open page reloads what it showed in the last five minutes. Only the first access has an audit entry. The
       * repeated access gets an entry only if the work of the act gives details for it (`WriteActEntry`).
       */
      readonly isRepeatedAccess?: boolean
    }
  /** The caller is the user of the shell: no operator token was given to the command, or the command does not use one. */
  | { readonly kind: 'shell'; readonly user: string }
  /** The caller is signed in to the partner page as this participant. */
  | { readonly kind: 'participant'; readonly sender_id: string }
  /** The caller is a proposal, whose act is done because a second operator approved it. */
  | {
      readonly kind: 'proposal'
      readonly id: string
      readonly proposedBy: string
      readonly approvedBy: string
      /** The approved diff, as `canonicalJsonText` writes it. The act is refused when its diff has changed. */
      readonly diff: string
    }
  /** A step of a configuration file. The audit entry of the step is written before it, and names who applies the file. */
  | { readonly kind: 'configuration' }
  /** The caller is a part of this server that acts by itself. */
  | { readonly kind: 'server'; readonly component: 'outbox' }
  /** The caller is `rollcall demo`, which prepares its own database. */
  | { readonly kind: 'demo' }

/** The facts about an act by which the table `MAY_DO_ACT` decides which callers may do it. */
export interface ActFacts {
  readonly name: string
  readonly approval: 'never' | 'always' | 'wider'
}

/** Acts of participants, which no operator does. */
const PARTICIPANT_ACTS: ReadonlySet<string> = new Set(['partner replay'])
/** Acts that the steps of a configuration file are made of. */
const CONFIGURATION_ACTS: ReadonlySet<string> = new Set([
  ...['registry add', 'registry set', 'attribute add', 'attribute index', 'identifier-type add', 'identifier-type set'],
  ...['identifier-type remove', 'participant policy', 'participant host allow', 'participant host remove'],
  ...['participant callback', 'participant key add', 'participant key revoke', 'consent authority add'],
  'consent authority remove',
])
const DEMO_ACTS: ReadonlySet<string> = new Set([
  ...['operator add', 'operator revoke', 'operator link', 'participant secret rotate', 'participant key add'],
  ...['participant key revoke', 'participant callback', 'apply'],
])

const isOperatorAct = ({ name }: ActFacts): boolean => !PARTICIPANT_ACTS.has(name)

/** THE table: which acts each kind of caller may do. Roles of operators are checked where their calls come in. */
const MAY_DO_ACT: Readonly<Record<Caller['kind'], (act: ActFacts) => boolean>> = {
  operator: isOperatorAct,
  shell: isOperatorAct,
  participant: ({ name }) => PARTICIPANT_ACTS.has(name),
  proposal: (act) => isOperatorAct(act) && act.approval !== 'never',
  configuration: ({ name }) => CONFIGURATION_ACTS.has(name),
  server: ({ name }) => name === 'publish',
  demo: ({ name }) => DEMO_ACTS.has(name),
}

/** True when the caller may do the act. A caller of an unknown kind may do nothing. */
export const canDoAct = (caller: Caller | undefined, act: ActFacts): boolean =>
  caller !== undefined && Object.hasOwn(MAY_DO_ACT, caller.kind) && MAY_DO_ACT[caller.kind](act)

/** The operator who calls, with a token or signed in; null: a caller of another kind, such as the user of a shell. */
export const callingOperator = (caller: Caller): Operator | null => (caller.kind === 'operator' ? caller.operator : null)

/** The members of an audit entry that say who called. */
export interface CallerInEntry {
  readonly participant: string | null
  readonly operator: string | null
  readonly approved_by?: string
}

/**
 * The names of a caller in an audit entry; null: the act writes no entry. `apply` writes the entries of its steps, and an event
 * from the event outbox is stored in a table of its own.
 */
export function callerInEntry(caller: Caller): CallerInEntry | null {
  switch (caller.kind) {
    case 'operator':
      return { participant: null, operator: caller.operator.name }
    case 'shell':
      return { participant: null, operator: caller.user }
    case 'participant':
      return { participant: caller.sender_id, operator: null }
    case 'proposal':
      return { participant: null, operator: caller.proposedBy, approved_by: caller.approvedBy }
    case 'demo':
      return { participant: null, operator: 'rollcall demo' }
    case 'configuration':
    case 'server':
      return null
  }
}

/** Returns who called and, for an approved proposal, who approved it, as one text. */
export function callerText(caller: Caller): string {
  const { participant = null, operator = null, approved_by } = callerInEntry(caller) ?? {}
  const name = operator ?? participant ?? caller.kind
  return approved_by === undefined ? name : `${name}; approved by ${approved_by}`
}
