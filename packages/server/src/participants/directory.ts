/** Who may call and what is hosted, as the database says it, at most half a second old. */
import type { Database } from '../store/database.ts'
import { findParticipant, findParticipantById, type Participant } from '../store/participants.ts'
import { listRegistries, type Registry } from '../store/registries.ts'
import { shortLived } from './short-lived.ts'

export interface Directory {
  /** The active participant of this sender_id; null when there is none or it is disabled. */
  activeParticipant(sender_id: string): Promise<Participant | null>
  /** The participant with this `Participant.id`, whatever its status; null when there is none. */
  participantById(id: number): Promise<Participant | null>
  /** The registry mounted at this namespace. */
  registry(namespace: string): Promise<Registry | undefined>
  /** The registry with this `Registry.id`. */
  registryById(id: number): Promise<Registry | undefined>
}

/** Disabling a participant takes effect on every node within a second: this is half of that, the rest is slack. */
const MAX_AGE = 500

export function createDirectory(db: Database): Directory {
  const participants = shortLived((sender_id) => findParticipant(db, sender_id), { maxAge: MAX_AGE })
  const byId = shortLived((id) => findParticipantById(db, Number(id)), { maxAge: MAX_AGE })
  // The whole list under one key: names that nobody hosts then cost no look-up of their own.
  const registries = shortLived(
    async () => new Map((await listRegistries(db)).map((registry) => [registry.namespace, registry])),
    { maxAge: MAX_AGE },
  )
  return {
    async activeParticipant(sender_id) {
      const participant = await participants.get(sender_id)
      return participant?.status === 'active' ? participant : null
    },
    participantById: (id) => byId.get(String(id)),
    registry: async (namespace) => (await registries.get('all')).get(namespace),
    registryById: async (id) =>
      [...(await registries.get('all')).values()].find((registry) => registry.id === id),
  }
}
