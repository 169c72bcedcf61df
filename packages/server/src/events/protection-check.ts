/** Events of protected persons are for those alone whose grants name the category. */
import type { ClientBase } from 'pg'
import type { Protection } from '../model/protection.ts'
import type { Registry } from '../model/registry.ts'
import { maySeeProtected } from '../store/events/may-see-protected.ts'
import { categoriesOf } from '../store/records/protection.ts'
import type { Draft } from './recording.ts'

/** Of what concerns subscriptions, that of those who may see the record of the event. */
export type ProtectionCheck = <One extends { readonly subscription: number }>(
  all: readonly One[],
  eventOf: (one: One) => Draft | undefined,
) => Promise<readonly One[]>

export async function protectionCheckOf(
  client: ClientBase,
  registry: Registry,
  protection: Protection,
  drafts: readonly Draft[],
): Promise<ProtectionCheck> {
  if (protection.named.size === 0) return async (all) => all
  const categories = await categoriesOf(
    client,
    registry,
    drafts.map(({ change }) => change),
  )
  return async (all, eventOf) => {
    const about = all.map((one) => {
      const draft = eventOf(one)
      return { one, categories: draft === undefined ? [] : categories(draft.change) }
    })
    const hidden = about.filter((row) => row.categories.length > 0)
    if (hidden.length === 0) return all
    const allowed = await maySeeProtected(
      client,
      hidden.map(({ one, categories }) => ({ subscription: one.subscription, categories })),
    )
    const refused = new Set(hidden.filter((_, at) => !allowed[at]).map(({ one }) => one))
    return all.filter((one) => !refused.has(one))
  }
}
