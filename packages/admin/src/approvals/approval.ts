/** Acts that wait for a second operator: an act that needs one is not done, but stored as a proposal. */
import { randomUUID } from 'node:crypto'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Limits } from '@rollcall/core/limits'
import { hasRole, type Operator, type OperatorRole } from '@rollcall/core/model/operator'
import { withCurrentMasterKey } from '@rollcall/keys/store/master-keys'
import { addProposal, type ProposalActor, SEALED_PROPOSAL_TABLE } from '@rollcall/participants/store/proposals'
import type { ApprovalService, BaseActDeps } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import { auditAct } from '../audit/operator-entries.ts'
import { callingOperator } from '../caller.ts'
import type { HasVault } from '../deps.ts'
import { canonicalJsonText, type DiffLine } from './diff-lines.ts'

/** The response to a call whose act waits for a second operator. */
export interface ActWaitsAnswer {
  readonly id: string
  readonly act: string
  readonly diff: readonly DiffLine[]
  readonly proposed_by: string
  readonly lapses_at: string
}

/** Thrown when an act was not done, because it waits for a second operator. */
export class ActWaitsError extends Error {
  override readonly name = 'Proposed'
  readonly proposal: ActWaitsAnswer

  constructor(proposal: ActWaitsAnswer) {
    super(`${proposal.act} waits for a second operator, as proposal ${proposal.id} until ${proposal.lapses_at}`)
    this.proposal = proposal
  }
}

/** Identifies an operator independently of the name: by the token, or by the subject at the identity provider. */
export function identifyOperator({ id, subject, name }: Pick<Operator, 'id' | 'subject' | 'name'>): ProposalActor {
  if (id !== null) return { id: `token ${id}`, name }
  if (subject !== undefined) return { id: `openid ${subject}`, name }
  throw new Error('an operator has neither a token nor a provider')
}

interface ApprovalDeps {
  readonly limits: Limits
  readonly clock?: Pick<Clock, 'date'> | undefined
}

/** Makes the `approvals` of a server that needs two operators: `propose` stores the act as a proposal. */
export function createApprovalService({ limits, clock = SYSTEM_CLOCK }: ApprovalDeps): ApprovalService {
  return {
    areNeeded: true,
    async propose(given, { name, role, diff, input }) {
      const deps = given as HasVault & BaseActDeps
      const by = identifyOperator(requireRole(callingOperator(deps.caller), role))
      const proposed_at = new Date(clock.date())
      const lapses_at = new Date(proposed_at.getTime() + limits.proposal_time * 1_000)
      await auditAct(deps, { note: `proposal: ${name}` })
      const id = randomUUID()
      const vault = await deps.vault()
      await withCurrentMasterKey(async () => {
        const sealed = await vault.encrypt(PURPOSE, proposalBinding(id), Buffer.from(JSON.stringify(input)))
        await addProposal(deps.db, { id, act: name, diff: canonicalJsonText(diff), proposed_at, lapses_at, sealed, by })
      })
      throw new ActWaitsError({ id, act: name, diff, proposed_by: by.name, lapses_at: lapses_at.toISOString() })
    },
  }
}

export const { purpose: PURPOSE } = SEALED_PROPOSAL_TABLE
/** The table and the id of the row to which the encryption of a proposal's input is bound. */
export const proposalBinding = (id: string) => ({ table: SEALED_PROPOSAL_TABLE.table, id })

/** Returns an operator who has the role. @throws AdminRefusal the operator is not known, or lacks the role */
export function requireRole(operator: Operator | null, role: OperatorRole): Operator {
  if (operator === null) {
    throw new AdminRefusal(
      'this needs two operators (ROLLCALL_TWO_PERSON), and the user of a shell is not known well enough: set ROLLCALL_OPERATOR_TOKEN to a token of your own',
      { reason: 'forbidden' },
    )
  }
  if (hasRole(operator, role)) return operator
  throw new AdminRefusal(`this needs the role ${role}`, { reason: 'forbidden' })
}
