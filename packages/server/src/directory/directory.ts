/** Who may call and what is hosted, as the database says it, at most half a second old. */
import type { Participant } from '../model/participant.ts'
import type { Registry } from '../model/registry.ts'
import type { Log } from '../observe/log.ts'
import { shortLived } from '../shared/short-lived.ts'
import type { Database } from '../store/db/database.ts'
import { safeDatabaseError } from '../store/db/database-errors.ts'
import { findParticipant, findParticipantById } from '../store/directory/participants.ts'
import { readRegistries, type UnreadableRegistry } from '../store/registries/registries.ts'

export interface Directory {
  /** The active participant of this sender_id; null when there is none or it is disabled. */
  activeParticipant(sender_id: string): Promise<Participant | null>
  /** The participant with this `Participant.id`, whatever its status; null when there is none. */
  participantById(id: number): Promise<Participant | null>
  /** The registry mounted at this namespace. Throws when this version cannot read it. */
  registry(namespace: string): Promise<Registry | undefined>
  /** The registry with this `Registry.id`. Throws when this version cannot read it. */
  registryById(id: number): Promise<Registry | undefined>
}

/** Disabling a participant takes effect on every node within a second: this is half of that, the rest is slack. */
const MAX_AGE = 500

type Named = Pick<Registry, 'id' | 'namespace'>

export function createDirectory(db: Database, log: Log): Directory {
  const participants = shortLived((sender_id) => findParticipant(db, sender_id), { maxAge: MAX_AGE })
  const byId = shortLived((id) => findParticipantById(db, Number(id)), { maxAge: MAX_AGE })
  // The whole list under one key: names that nobody hosts then cost no look-up of their own.
  const registries = shortLived(
    async () => {
      const read = await readRegistries(db)
      for (const row of read.unreadable) report(row)
      return read
    },
    { maxAge: MAX_AGE },
  )
  const reported = new Set<number>()
  const report = ({ id, error }: UnreadableRegistry): void => {
    if (reported.has(id)) return
    reported.add(id)
    log.error(
      { registry: id, ...safeDatabaseError(error) },
      'a registry cannot be read; the others are served',
    )
  }
  const registryWhere = async (is: (row: Named) => boolean): Promise<Registry | undefined> => {
    const read = await registries.get('all')
    const unreadable = read.unreadable.find(is)
    if (unreadable !== undefined) throw unreadable.error
    return read.registries.find(is)
  }
  return {
    async activeParticipant(sender_id) {
      const participant = await participants.get(sender_id)
      return participant?.status === 'active' ? participant : null
    },
    participantById: (id) => byId.get(String(id)),
    registry: (namespace) => registryWhere((row) => row.namespace === namespace),
    registryById: (id) => registryWhere((row) => row.id === id),
  }
}
