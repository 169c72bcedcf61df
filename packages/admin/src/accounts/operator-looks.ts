/** The accounts of what operators do with data of persons, and of what a participant does by hand. */

import { EMPTY_ENTRY } from '@rollcall/audit/account-of'
import type { AccountEntry, AccountedPerson } from '@rollcall/core/model/account'
import type { HasAccounts } from '../needs.ts'

/** What an operator does. */
export interface OperatorAct {
  /** The command, without any value that was given to it. */
  readonly note: string
  /** Namespace of the registry, where it is of a single one. */
  readonly registry?: string | undefined
  /** Whose data is shown or changed, or who is asked about. */
  readonly persons?: readonly AccountedPerson[]
  /** Records that are shown. */
  readonly records?: number
  /** The attribute paths that are shown, by record type. */
  readonly shown?: AccountEntry['shown']
  /** Why, as the operator says; it is accounted encrypted. */
  readonly reason?: string | undefined
  /** correlation_ids whose stored answers are shown again: an audit of the persons in them finds it. */
  readonly repeats?: readonly string[]
}

/** Writes the account of an act. It is awaited before anything is shown: when it rejects, nothing may be. */
export const accountOperator = (
  { accounts, operator, approvedBy }: Pick<HasAccounts, 'accounts' | 'operator' | 'approvedBy'>,
  { note, registry, persons = [], records = 0, shown = {}, reason, repeats = [] }: OperatorAct,
): Promise<void> =>
  accounts.write(
    {
      kind: 'operator',
      participant: null,
      operator,
      ...(approvedBy !== undefined && { approved_by: approvedBy }),
      registry: registry ?? null,
      operation: null,
      correlation_id: null,
      transaction_id: null,
      request: null,
      reply: null,
      grant: null,
      basis: null,
      purpose: null,
      consent: null,
      outcomes: { succ: 1 },
      records,
      shown,
      note,
      asked: { record_types: [], forms: [], attributes: [] },
      ...(reason !== undefined && { confidential: { reason } }),
      ...(repeats.length > 0 && { repeats }),
    },
    persons,
  )

/**
 * Writes the account of what a participant does by hand on the partner page. It is awaited before anything is sent.
 * @param act.count of what it is done with
 */
export const accountParticipant = (
  { accounts, sender_id }: Pick<HasAccounts, 'accounts'> & { readonly sender_id: string },
  { note, count }: { readonly note: string; readonly count: number },
): Promise<void> =>
  accounts.write({ ...EMPTY_ENTRY, kind: 'operator', participant: sender_id, note, count, outcomes: { succ: 1 } }, [])

/** Whether it is an operator who calls, and not another part of the server. */
export const isAccounting = (
  needs: unknown,
): needs is Pick<HasAccounts, 'accounts' | 'operator' | 'approvedBy' | 'isSameLook'> =>
  typeof needs === 'object' && needs !== null && 'accounts' in needs && 'operator' in needs

/** The acts of an operator, one after the other; nothing where another part of the server calls. */
export async function accountActs(needs: unknown, acts: readonly OperatorAct[]): Promise<void> {
  if (!isAccounting(needs)) return
  for (const act of acts) await accountOperator(needs, act)
}
