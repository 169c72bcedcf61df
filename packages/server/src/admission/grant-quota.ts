/** The daily quotas of grants: identifiers and other items asked, and records delivered, on all nodes together. */
import { type Counted, type Grant, QUOTAS } from '../model/grant.ts'
import type { Database } from '../store/db/database.ts'
import { noteUse, takeOfDay, usedToday } from '../store/directory/grant-use.ts'

/** A day begins at midnight in UTC. */
export interface GrantQuota {
  /** @returns false: the quota of the day does not have so many left, and none was taken */
  take(what: Counted, of: QuotaOf, wanted: number): Promise<boolean>
  /** Counts what is sent without being asked for, also beyond the quota. */
  note(what: Counted, of: QuotaOf, used: number): Promise<void>
  /** Whether nothing is left of the day. */
  isUsedUp(what: Counted, of: QuotaOf): Promise<boolean>
}

interface QuotaOf {
  readonly grant: Pick<Grant, 'terms'>
  readonly participant: { readonly id: number }
  readonly registry: { readonly id: number }
}

export function createGrantQuota(db: Pick<Database, 'pool'>): GrantQuota {
  const used = (counted: Counted, { participant, registry }: QuotaOf) => ({
    ...{ participant: participant.id, registry: registry.id, counted },
  })
  return {
    async take(what, of, wanted) {
      const most = QUOTAS[what](of.grant.terms)
      return most === undefined || wanted === 0 || takeOfDay(db, used(what, of), wanted, most)
    },
    async note(what, of, count) {
      if (QUOTAS[what](of.grant.terms) !== undefined && count > 0) await noteUse(db, used(what, of), count)
    },
    async isUsedUp(what, of) {
      const most = QUOTAS[what](of.grant.terms)
      return most !== undefined && (await usedToday(db, used(what, of))) >= most
    },
  }
}

const DAY = 86_400_000

/** When the next day begins, as a text. */
export const nextDay = (now: number): string =>
  new Date((Math.floor(now / DAY) + 1) * DAY).toISOString().replace('.000Z', 'Z')
