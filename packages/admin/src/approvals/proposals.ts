/** Proposals: acts that one operator wants, and that are done when a second one approves. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { hasRole, OPERATOR_ROLES, type Operator, type OperatorRole } from '@rollcall/core/model/operator'
import { createOperatorTokenChecker } from '@rollcall/participants/directory/operators'
import {
  decideProposal,
  findProposal,
  listProposals as listRows,
  noteProposalEnd,
  PROPOSAL_STATES,
  type StoredProposal,
} from '@rollcall/participants/store/proposals'
import { withProposalApprovalLock } from '@rollcall/participants/store/session-claim'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { callingOperator } from '../caller.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, flag, instant, isoTime, markPersonal, orNull, text, wholeNumber } from '../members.ts'
import { type ActDeps, findAct } from './acts.ts'
import { identifyOperator, PURPOSE, proposalBinding, requireRole } from './approval.ts'
import { canonicalJsonText, type DiffLine } from './diff-lines.ts'

const Id = text('id of the proposal.')
const ProposalDiff = Type.Array(
  closed({
    at: text('Member.'),
    from: Type.Unknown({ description: 'As it is stored; null: nothing.' }),
    to: Type.Unknown({ description: 'As it would be; null: nothing.' }),
  }),
  { description: 'What would change, without secrets and persons. Where from and to are the same, the act is about it.' },
)
const State = oneOf(PROPOSAL_STATES, {
  description:
    'approved: the act is being done, or nobody knows how it ended; done and failed: it was approved; outdated: what is stored had changed.',
})

/** The answer to a call whose act waits for a second operator. */
export const ACT_WAITS_ANSWER = closed({
  id: Id,
  act: text('What is to be done.'),
  diff: ProposalDiff,
  proposed_by: text('Name of the operator.'),
  lapses_at: instant('Until when it can be approved.'),
})

const PROPOSAL = {
  ...ACT_WAITS_ANSWER.properties,
  role: orNull(oneOf(OPERATOR_ROLES, { description: 'Who may decide has this role; null: this version does not know the act.' })),
  state: State,
  proposed_at: instant('When it was proposed.'),
  decided_by: orNull(text('Name of the operator who approved or declined.')),
  decided_at: orNull(instant('When.')),
  failure: orNull(text('Why the act was refused after it was approved.')),
  own: flag('Whether it is the caller who has proposed it: another operator decides.'),
} as const

interface ClockDeps {
  readonly clock?: Pick<Clock, 'date'>
}

type ListDeps = HasDatabase & ClockDeps & Pick<BaseActDeps, 'caller'>

const MOST_LISTED_PROPOSALS = 1_000

/** Lists proposals, the newest first. */
export const listProposals = defineAdminFunction(
  {
    input: closed({
      state: Type.Optional(State),
      limit: Type.Optional(wholeNumber('At most so many (default: 50).', 1, MOST_LISTED_PROPOSALS)),
    }),
    result: Type.Array(closed(PROPOSAL)),
  },
  async (deps: ListDeps, { state = null, limit = 50 }) =>
    (await listRows(deps.db, { state, limit, now: currentTime(deps) })).map((row) =>
      proposalForCaller(row, callingOperator(deps.caller)),
    ),
)

/**
 * Shows a proposal. While the proposal waits, an operator who has the role to decide about it also sees the confidential members
 * of its input; if the act has such members, an audit entry is written before.
 */
export const showProposal = defineAct(
  {
    name: 'proposal show',
    approval: 'never',
    entry: 'within',
    input: closed({ id: Id }),
    result: closed({
      ...PROPOSAL,
      confidential: orNull(
        markPersonal(
          Type.Record(Type.String(), Type.Unknown(), {
            description:
              'Members of the input that may be personal data, while the proposal waits; null: the caller may not decide.',
          }),
        ),
      ),
    }),
  },
  async (deps: ActDeps & ClockDeps, { id }, enter) => {
    const caller = callingOperator(deps.caller)
    const found = await requireProposal(deps, id)
    const act = findAct(found.act)
    const shown = proposalForCaller(found, caller)
    const isOpen = found.sealed !== null && found.state === 'waiting' && act !== null && canDecide(caller, act.act)
    // This call needs an audit entry only if it shows confidential members: a diff names no person.
    await enter(isOpen && act.act.confidential.length > 0 ? { note: `proposal show: ${act.act.name}` } : null)
    if (!isOpen || found.sealed === null) return { ...shown, confidential: null }
    const input = await decryptProposalInput(deps, { id, sealed: found.sealed })
    const named = act.act.confidential.filter((name) => Object.hasOwn(input, name))
    return { ...shown, confidential: Object.fromEntries(named.map((name) => [name, input[name]])) }
  },
)

/** Approves a proposal and does its act, once, if the stored values are still those that the proposal shows. */
export const approveProposal = defineAct(
  {
    name: 'proposal approve',
    approval: 'never',
    entry: 'within',
    input: closed({ id: Id }),
    result: closed({
      proposal: closed(PROPOSAL),
      result: markPersonal(
        Type.Unknown({ description: 'What the act answers, such as a secret: it is in this answer and in no other.' }),
      ),
    }),
  },
  async (deps: ActDeps & ClockDeps, { id }, enter) => {
    const { db } = deps
    const { act, by } = await requireProposedAct(deps, id)
    const done = await withProposalApprovalLock(db, async () => {
      const now = currentTime(deps)
      const found = await requireProposal(deps, id)
      if (found.state !== 'waiting' || found.sealed === null) throw notWaitingRefusal(found)
      const input = await decryptProposalInput(deps, { id, sealed: found.sealed })
      const diff = await act.act.diff(deps, input)
      if (canonicalJsonText(diff) !== found.diff) {
        await enter({ note: `proposal outdated: ${act.act.name}` })
        await decideProposal(db, id, { state: 'outdated', by, now })
        throw new AdminRefusal('what is stored has changed since it was proposed: propose it again', { reason: 'conflict' })
      }
      const caller = { kind: 'proposal', id, proposedBy: found.proposed_name, approvedBy: by.name, diff: found.diff } as const
      await enter({ note: `proposal approve: ${act.act.name}`, operator: caller.proposedBy, approved_by: caller.approvedBy })
      // The proposal is marked as approved first: no other call can decide about it from here on.
      if (!(await decideProposal(db, id, { state: 'approved', by, now })))
        throw notWaitingRefusal(await requireProposal(deps, id))
      try {
        const result = await act({ ...deps, caller }, input as never)
        await noteProposalEnd(db, id, null)
        return result
      } catch (error) {
        const failure = error instanceof AdminRefusal ? 'the act was refused' : 'the server failed'
        await noteProposalEnd(db, id, failure)
        throw error
      }
    })
    if (done === null) {
      throw new AdminRefusal('another proposal is being approved; try again when that is done', { reason: 'conflict' })
    }
    return {
      proposal: proposalForCaller(await requireProposal(deps, id), callingOperator(deps.caller)),
      result: done.result ?? null,
    }
  },
)

/** Declines a proposal: its act is not done. */
export const declineProposal = defineAct(
  { name: 'proposal decline', approval: 'never', entry: 'within', input: closed({ id: Id }), result: closed(PROPOSAL) },
  async (deps: ActDeps & ClockDeps, { id }, enter) => {
    const { act, by } = await requireProposedAct(deps, id)
    await enter({ note: `proposal decline: ${act.act.name}` })
    const isDeclined = await decideProposal(deps.db, id, { state: 'declined', by, now: currentTime(deps) })
    const found = await requireProposal(deps, id)
    if (!isDeclined) throw notWaitingRefusal(found)
    return proposalForCaller(found, callingOperator(deps.caller))
  },
)

/**
 * Returns the operator with this admin API token.
 * @throws AdminRefusal the token is not valid, or is bound to registries or to a consent authority
 */
export async function requireOperatorOfToken({ db }: HasDatabase, token: string): Promise<Operator> {
  const operator = await createOperatorTokenChecker(db).operatorOf(token.trim())
  if (operator === null) {
    throw new AdminRefusal('the operator token is not valid here, has expired or was revoked', { reason: 'forbidden' })
  }
  if (operator.registries === null && operator.authority === null) return operator
  throw new AdminRefusal('the operator token is bound to registries or to an authority: use another one', { reason: 'forbidden' })
}

const currentTime = ({ clock = SYSTEM_CLOCK }: ClockDeps): Date => new Date(clock.date())

/** The form of a proposal's id: a UUID. */
const UUID_FORM = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

async function requireProposal(deps: HasDatabase & ClockDeps, id: string) {
  const found = UUID_FORM.test(id) ? await findProposal(deps.db, id, currentTime(deps)) : null
  if (found !== null) return found
  throw new AdminRefusal('id: there is no proposal with this id', { reason: 'not_found' })
}

/**
 * Returns the act of a proposal, and the operator who decides about it.
 * @throws AdminRefusal there is no such proposal, it does not wait any more, this version does not know its act, or the
 * caller may not decide about it
 */
async function requireProposedAct(deps: ActDeps & ClockDeps, id: string) {
  const caller = callingOperator(deps.caller)
  const found = await requireProposal(deps, id)
  const act = findAct(found.act)
  if (act?.act.role == null) {
    throw new AdminRefusal('this version does not know the act of the proposal', { reason: 'conflict' })
  }
  const by = identifyOperator(requireRole(caller, act.act.role))
  if (isProposer(found, caller)) {
    throw new AdminRefusal('who has proposed it cannot decide about it: another operator must', { reason: 'forbidden' })
  }
  if (found.state !== 'waiting') throw notWaitingRefusal(found)
  return { act, by }
}

/**
 * True when the caller made the proposal. A caller of the same name counts too: one person may have several tokens. False for
 * null, a caller who is no operator.
 */
function isProposer({ proposed_by, proposed_name }: StoredProposal, caller: Operator | null): boolean {
  if (caller === null) return false
  const { id, name } = identifyOperator(caller)
  return proposed_by === id || proposed_name === name
}

const canDecide = (caller: Operator | null, { role }: { readonly role: OperatorRole | null }): boolean =>
  caller !== null && role !== null && hasRole(caller, role)

const notWaitingRefusal = ({ state }: StoredProposal): AdminRefusal =>
  new AdminRefusal(`the proposal does not wait any more: it is ${state}`, { reason: 'conflict' })

async function decryptProposalInput(
  { vault }: Pick<ActDeps, 'vault'>,
  { id, sealed }: { readonly id: string; readonly sealed: Buffer },
): Promise<Readonly<Record<string, unknown>>> {
  const json = await (await vault()).decrypt(PURPOSE, proposalBinding(id), sealed)
  return JSON.parse(json.toString()) as Record<string, unknown>
}

function proposalForCaller(row: StoredProposal, caller: Operator | null) {
  const { id, act, diff, state, proposed_name, proposed_at, lapses_at, decided_name, decided_at, failure } = row
  const known = findAct(act)
  // Leaves out lines about confidential members, which an earlier version may have stored.
  const lines = (JSON.parse(diff) as DiffLine[]).filter(({ at }) => !known?.act.confidential.includes(at))
  return {
    id,
    act,
    diff: lines,
    proposed_by: proposed_name,
    lapses_at: isoTime(lapses_at),
    role: known?.act.role ?? null,
    state,
    proposed_at: isoTime(proposed_at),
    decided_by: decided_name,
    decided_at: isoTime(decided_at),
    failure,
    own: isProposer(row, caller),
  }
}
