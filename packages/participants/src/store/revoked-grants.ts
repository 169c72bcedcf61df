/** Writes revoked grants into the journal, so that a restore does not bring them back. */
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { listGrants } from './grants.ts'

type ParticipantAndRegistry = readonly [Pick<Participant, 'id' | 'sender_id'>, Pick<Registry, 'id' | 'namespace'>]

/** Does the work that replaces or revokes all grants of a participant in a registry, and journals their ids. */
export async function journalReplacedGrants<Result>(
  db: Database,
  [participant, registry]: ParticipantAndRegistry,
  commit: () => Promise<Result>,
): Promise<Result> {
  const live = await listGrants(db, { participant: participant.id, registry: registry.id })
  const grants = live.map(({ id }) => id)
  return journalRevokedGrants(db, [participant, registry], grants, commit)
}

/** Runs work that revokes grants, and writes the ids of these grants into the journal. */
export async function journalRevokedGrants<Result>(
  { journal }: Database,
  [{ sender_id }, { namespace }]: ParticipantAndRegistry,
  grants: readonly number[],
  commit: () => Promise<Result>,
): Promise<Result> {
  if (grants.length === 0) return commit()
  const act = { kind: 'grants_revoked', participant: sender_id, registry: namespace, grants } as const
  return journal.write(act, commit)
}
