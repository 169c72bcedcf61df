/**
 * The daily quotas and the rates of grants, on all nodes together. They count the identifiers and other items that a
 * participant asks for, and the records that it gets. A rate is a bucket of tokens, like the rate of a participant. A
 * call takes all that it wants from a rate or a quota, or nothing.
 */
import { type CountedQuantity, dailyLimitOf, type Grant, minuteLimitOf } from '@rollcall/core/model/grant'
import type { Database } from '@rollcall/database/database'
import type { Metrics } from '@rollcall/observe/metrics'
import { readQuotaUseToday, takeDailyQuota } from '../store/grant-use.ts'
import { takeTokens } from '../store/quotas.ts'

/** Counts what a participant uses under a grant. A day begins at midnight in UTC. */
export interface GrantQuota {
  /**
   * Takes `wanted` items or records from the rate, and then from the quota of the day.
   * @returns null when they were taken; otherwise which of the two has too few. The quota of the day is unchanged then,
   * but the rate may have been used.
   */
  take(what: CountedQuantity, of: GrantOfParticipant, wanted: number): Promise<QuotaShortage | null>
  /** True when nothing is left of the quota of the day. */
  isUsedUp(what: CountedQuantity, of: GrantOfParticipant): Promise<boolean>
}

/** `of` names the limit of a grant that has too little left: `day` is the quota of the day; `minute` and `burst` are the rate. */
export type QuotaShortage =
  | { readonly of: 'day' }
  /**
   * The rate has too few tokens now. `most`: the items or records that the grant allows in a minute. `wait`: seconds until the
   * bucket has enough tokens.
   */
  | { readonly of: 'minute'; readonly most: number; readonly wait: number }
  /** More items or records are wanted at once than the rate allows in a whole minute. */
  | { readonly of: 'burst'; readonly most: number }

/** A grant with its participant and its registry. */
interface GrantOfParticipant {
  readonly grant: Pick<Grant, 'terms'>
  readonly participant: { readonly id: number; readonly sender_id: string }
  readonly registry: { readonly id: number; readonly namespace: string }
}

const MINUTE_SECONDS = 60

export function createGrantQuota(db: Pick<Database, 'pool'>, metrics: Pick<Metrics, 'grantRateRefused'>): GrantQuota {
  const used = (counted: CountedQuantity, { participant, registry }: GrantOfParticipant) => ({
    participant: participant.id,
    registry: registry.id,
    counted,
  })
  const takeOfMinute = async (
    what: CountedQuantity,
    of: GrantOfParticipant,
    wanted: number,
    most: number,
  ): Promise<QuotaShortage | null> => {
    if (wanted > most) return { of: 'burst', most }
    const bucket = `grant ${of.participant.id} ${of.registry.id} ${what}`
    const rate = most / MINUTE_SECONDS
    const { granted, left } = await takeTokens(db, { bucket, rate, capacity: most, wanted, least: wanted })
    if (granted > 0) return null
    return { of: 'minute', most, wait: Math.max(1, Math.ceil((wanted - left) / rate)) }
  }
  return {
    async take(what, of, wanted) {
      if (wanted === 0) return null
      const rate = minuteLimitOf(of.grant.terms, what)
      const shortage = rate === undefined ? null : await takeOfMinute(what, of, wanted, rate)
      if (shortage !== null) {
        const [participant, registry] = [of.participant.sender_id, of.registry.namespace]
        metrics.grantRateRefused({ participant, registry, counted: what })
        return shortage
      }
      const most = dailyLimitOf(of.grant.terms, what)
      return most === undefined || (await takeDailyQuota(db, used(what, of), wanted, most)) ? null : { of: 'day' }
    },
    async isUsedUp(what, of) {
      const most = dailyLimitOf(of.grant.terms, what)
      return most !== undefined && (await readQuotaUseToday(db, used(what, of))) >= most
    },
  }
}
