/** Finds the due times of notifications that wait for the frequency of their subscription. */

import { nextScheduledRunOrEnd } from '@rollcall/core/events/frequency'
import type { Registry } from '@rollcall/core/model/registry'
import type { ClientBase } from 'pg'
import { findSubscriptionFrequencies, type SubscriptionWithFrequency } from '../store/events/events.ts'

/** Finds due times as of one moment. Many subscriptions have the same frequency, whose next time is computed once. */
export class NotificationDueTimes {
  readonly #time_zone: string
  readonly #now: Date
  readonly #next: typeof nextScheduledRunOrEnd
  readonly #known = new Map<string, Date>()

  constructor({ time_zone }: Pick<Registry, 'time_zone'>, now: Date, next = nextScheduledRunOrEnd) {
    this.#time_zone = time_zone
    this.#now = now
    this.#next = next
  }

  /** The next due time of each subscription that has a frequency; null: the frequency has ended. Others are left out. */
  async of(client: ClientBase, subscriptions: readonly number[]): Promise<ReadonlyMap<number, Date | null>> {
    if (subscriptions.length === 0) return new Map()
    const found = await findSubscriptionFrequencies(client, subscriptions)
    return new Map(found.map((one) => [one.id, this.next(one)]))
  }

  /** The next time at which notifications of a subscription are due; null when its frequency has ended. */
  next(frequency: Omit<SubscriptionWithFrequency, 'id'>): Date | null {
    const { cron, start_at, end_at } = frequency
    if (end_at <= this.#now) return null
    const name = `${cron}|${start_at.getTime()}|${end_at.getTime()}`
    const known = this.#known.get(name) ?? this.#next(frequency, this.#time_zone, this.#now)
    this.#known.set(name, known)
    return known
  }
}
