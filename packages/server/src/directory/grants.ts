/** What a participant may do in a registry, as the database says it, at most half a second old. */
import { LRUCache } from 'lru-cache'
import type { Grant } from '../model/grant.ts'
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import type { Log } from '../observe/log.ts'
import { readStoredGrant } from '../policy/grant.ts'
import { CLOCK, type Clock } from '../shared/clock.ts'
import { shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { findGrant, type StoredGrant } from '../store/directory/grants.ts'

export interface Grants {
  /** The grant in force; null: there is none, the participant is disabled, or this version cannot read it. */
  of(
    participant: Pick<Participant, 'id' | 'status'>,
    registry: Pick<Registry, 'id' | 'kind'>,
  ): Promise<Grant | null>
}

/** Grants that a node keeps read. */
const READ = 10_000

export function createGrants(
  db: Pick<Database, 'pool'>,
  log: Pick<Log, 'error'>,
  { now }: Pick<Clock, 'now'> = CLOCK,
): Grants {
  const stored = shortLived(
    (key) => {
      const [participant = 0, registry = 0] = key.split(' ').map(Number)
      return findGrant(db, participant, registry)
    },
    { now },
  )
  const read = new LRUCache<number, { readonly kind: Registry['kind']; readonly grant: Grant | null }>({
    max: READ,
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
  return {
    async of({ id, status }, registry) {
      if (status !== 'active') return null
      const found = await stored.get(`${id} ${registry.id}`)
      return found === null ? null : readOnce(found, registry.kind)
    },
  }
}
