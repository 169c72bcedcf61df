/** Grants that are revoked, in the journal: a restore must not bring back what is granted no more. */
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import type { Database } from '../store/db/database.ts'
import { listGrants } from '../store/directory/grants.ts'

type Owner = readonly [Pick<Participant, 'id' | 'sender_id'>, Pick<Registry, 'id' | 'namespace'>]

/** All that the participant has in the registry. */
export async function journalReplaced(db: Database, ...[participant, registry]: Owner): Promise<void> {
  const live = await listGrants(db, { participant: participant.id, registry: registry.id })
  await journalRevoked(
    db,
    [participant, registry],
    live.map(({ id }) => id),
  )
}

/** @param grants ids */
export async function journalRevoked(
  { journal }: Database,
  [{ sender_id }, { namespace }]: Owner,
  grants: readonly number[],
): Promise<void> {
  if (grants.length === 0) return
  await journal.write({ kind: 'grants_revoked', participant: sender_id, registry: namespace, grants })
}
