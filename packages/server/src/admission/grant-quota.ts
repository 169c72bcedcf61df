/** The daily quotas of grants: identifiers and other items asked, and records delivered, on all nodes together. */
import type { Grant, GrantTerms } from '../model/grant.ts'
import type { Asked, Granted } from '../store/directory/quotas.ts'

/** What is counted, with how much of it the grant gives in a day. Emergencies are counted by themselves. */
const COUNTED = {
  items: ({ items_per_day }) => items_per_day,
  records: ({ records_per_day }) => records_per_day,
  emergencies: ({ emergency }) => emergency?.items_per_day,
} as const satisfies Readonly<Record<string, (terms: GrantTerms) => number | undefined>>
export type Counted = keyof typeof COUNTED

export interface GrantQuota {
  /** @returns false: the quota does not have so many left. It refills steadily, in a day from empty to full. */
  take(what: Counted, of: QuotaOf, wanted: number): Promise<boolean>
}

interface QuotaOf {
  readonly grant: Pick<Grant, 'terms'>
  readonly participant: { readonly id: number }
  readonly registry: { readonly id: number }
}

const DAY = 86_400

/** @param take from the buckets that all nodes share (`takeTokens`) */
export function createGrantQuota(take: (asked: Asked) => Promise<Granted>): GrantQuota {
  return {
    async take(what, { grant, participant, registry }, wanted) {
      const capacity = COUNTED[what](grant.terms)
      if (capacity === undefined || wanted === 0) return true
      const bucket = `${what} a day ${participant.id} ${registry.id}`
      const { granted } = await take({ bucket, rate: capacity / DAY, capacity, wanted })
      return granted === wanted
    },
  }
}
