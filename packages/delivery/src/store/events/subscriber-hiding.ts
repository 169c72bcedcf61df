/** Finds which persons the present grants of subscribers hide. */

import type { GrantTerms } from '@rollcall/core/model/grant'
import { PROTECTION_CATEGORIES } from '@rollcall/core/model/protection'
import { GRANTS_IN_FORCE_SQL } from '@rollcall/participants/store/grants'
import type { ClientBase } from 'pg'

/** The rules of a subscriber's grant: which protected persons are shown to the subscriber, and whether minors are hidden. */
export interface PersonHidingRules {
  /** The categories of protected persons whom the grant shows. */
  readonly shownCategories: readonly string[]
  /** True when the grant hides minors. */
  readonly hidesMinors: boolean
}

/** The rules for a subscriber without rights: all protected persons and all minors are hidden. */
export const PERSON_HIDING_WITHOUT_RIGHTS: PersonHidingRules = { shownCategories: [], hidesMinors: true }

/** Returns a function that gives the hiding rules for the subscriber of a subscription id. */
export async function readPersonHidingRules(
  client: Pick<ClientBase, 'query'>,
  subscriptions: readonly number[],
): Promise<(subscription: number) => PersonHidingRules> {
  const { rows } = await client.query<{ id: number; categories: 'all' | string[]; minors: boolean }>(
    `select subscription.id, coalesce(held.terms -> 'protected', '[]') as categories,
       coalesce(held.terms ->> 'minors' = 'never', false) as minors
     from subscription join ${GRANTS_IN_FORCE_SQL} as held
       on held.participant = subscription.participant and held.registry = subscription.registry
     where subscription.id = any($1::int[])`,
    [subscriptions],
  )
  const found = new Map<number, PersonHidingRules>(
    rows.map(({ id, categories, minors }) => [
      id,
      { shownCategories: categories === 'all' ? PROTECTION_CATEGORIES : categories, hidesMinors: minors },
    ]),
  )
  return (subscription) => found.get(subscription) ?? PERSON_HIDING_WITHOUT_RIGHTS
}

/** The terms of a subscriber's grant that has conditions on records, or hides minors. */
export interface RecordLimitedSubscriber {
  readonly subscription: number
  readonly participant: number
  readonly terms: GrantTerms
}

/** Finds, among subscriptions, those whose grant has conditions on records or hides minors. */
export async function findRecordLimitedSubscribers(
  client: Pick<ClientBase, 'query'>,
  subscriptions: readonly number[],
): Promise<readonly RecordLimitedSubscriber[]> {
  const { rows } = await client.query<RecordLimitedSubscriber>(
    `select subscription.id as subscription, subscription.participant, held.terms
     from subscription join ${GRANTS_IN_FORCE_SQL} as held
       on held.participant = subscription.participant and held.registry = subscription.registry
     where subscription.id = any($1::int[]) and (held.terms -> 'rows' is not null or held.terms ->> 'minors' = 'never')`,
    [subscriptions],
  )
  return rows
}
