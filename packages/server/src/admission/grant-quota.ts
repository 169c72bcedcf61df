/** The daily quotas of grants: identifiers and other items asked, and records delivered, on all nodes together. */
import type { Grant } from '../model/grant.ts'
import type { Asked, Granted } from '../store/directory/quotas.ts'

/** What is counted, with the member of the grant that limits it. */
const COUNTED = { items: 'items_per_day', records: 'records_per_day' } as const

export interface GrantQuota {
  /** @returns false: the quota does not have so many left. It refills steadily, in a day from empty to full. */
  take(what: keyof typeof COUNTED, of: QuotaOf, wanted: number): Promise<boolean>
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
      const capacity = grant.terms[COUNTED[what]]
      if (capacity === undefined || wanted === 0) return true
      const bucket = `${what} a day ${participant.id} ${registry.id}`
      const { granted } = await take({ bucket, rate: capacity / DAY, capacity, wanted })
      return granted === wanted
    },
  }
}
