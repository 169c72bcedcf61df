/** Tells whether the circuit breaker of a destination is closed. Its state is read at most every half second. */

import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { Destination } from '@rollcall/core/model/delivery'
import type { Database } from '@rollcall/database/database'
import { findBreaker } from '../store/deliveries/breakers.ts'

/** Reads the circuit breakers of destinations. */
export interface Breakers {
  /** True when the destination's breaker is closed: any attempt may be made, not only a probe. */
  isClosed(destination: Destination): Promise<boolean>
}

/** Makes a reader that remembers the state of each breaker for half a second. It opens or closes no breaker. */
export function createBreakerReader(db: Pick<Database, 'pool'>): Breakers {
  const held = createShortLivedCache((key) => findBreaker(db, destinationOf(key)))
  return { isClosed: async (destination) => (await held.get(destinationKey(destination))).opened_at === null }
}

const destinationKey = ({ participant, origin }: Destination): string => `${participant} ${origin}`
function destinationOf(key: string): Destination {
  const space = key.indexOf(' ')
  return { participant: Number(key.slice(0, space)), origin: key.slice(space + 1) }
}
