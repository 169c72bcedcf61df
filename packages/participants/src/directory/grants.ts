/** Reads the grants of participants, with the persons hidden from each, through a cache of half a second. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { Grant } from '@rollcall/core/model/grant'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import { readStoredGrant } from '@rollcall/core/policy/grant'
import { grantWithHiddenPersons } from '@rollcall/core/policy/hidden'
import type { Database } from '@rollcall/database/database'
import type { Log } from '@rollcall/observe/log'
import { dayIn } from '@rollcall/protocol'
import { readProtection } from '@rollcall/records/records/protection'
import { LRUCache } from 'lru-cache'
import { findGrant, type StoredGrant } from '../store/grants.ts'

/** Finds the grant of a participant in a registry. */
export interface Grants {
  /** The grant in force; null: there is none, the participant is disabled, or this version cannot read it. */
  of(
    participant: Pick<Participant, 'id' | 'status'>,
    registry: Pick<Registry, 'id' | 'kind' | 'time_zone' | 'majority_age'>,
  ): Promise<Grant | null>
}

const MOST_CACHED_GRANTS = 10_000

export function createGrantReader(
  db: Pick<Database, 'pool'>,
  log: Pick<Log, 'error'>,
  { now, date }: Pick<Clock, 'now' | 'date'> = SYSTEM_CLOCK,
): Grants {
  const stored = createShortLivedCache(
    (key) => {
      const [participant = 0, registry = 0] = key.split(' ').map(Number)
      return findGrant(db, participant, registry)
    },
    { now },
  )
  const read = new LRUCache<number, { readonly kind: Registry['kind']; readonly grant: Grant | null }>({
    max: MOST_CACHED_GRANTS,
  })
  const readOnce = (found: StoredGrant, kind: Registry['kind']): Grant | null => {
    const known = read.get(found.id)
    if (known?.kind === kind) return known.grant
    const grant = readStoredGrant(kind, found, ({ message }) => {
      log.error({ grant: found.id, problem: message }, 'a grant cannot be read any more: it grants nothing')
    })
    read.set(found.id, { kind, grant })
    return grant
  }
  const protections = createShortLivedCache((registry) => readProtection(db.pool, Number(registry)), { now })
  const hiding = new WeakMap<Grant, { readonly key: string; readonly grant: Grant }>()
  return {
    async of({ id, status }, registry) {
      if (status !== 'active') return null
      const found = await stored.get(`${id} ${registry.id}`)
      const grant = found && readOnce(found, registry.kind)
      if (grant === null) return null
      const protection = await protections.get(String(registry.id))
      const day = dayIn(registry.time_zone, date())
      const key = `${protection.version} ${registry.majority_age} ${day}`
      const known = hiding.get(grant)
      if (known?.key === key) return known.grant
      const made = grantWithHiddenPersons(grant, registry, protection, day)
      hiding.set(grant, { key, grant: made })
      return made
    },
  }
}
