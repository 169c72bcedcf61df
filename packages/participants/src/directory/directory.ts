/** Reads participants, registries and callback settings through caches of half a second. */

import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createShortLivedCache } from '@rollcall/base/shared/short-lived'
import type { Participant } from '@rollcall/core/model/participant'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { Log } from '@rollcall/observe/log'
import { readRegistries, type UnreadableRegistry } from '@rollcall/records/registries/registries'
import { type CallbackSettings, findCallbackSettings } from '../store/participant-callbacks.ts'
import { findParticipant, findParticipantById } from '../store/participants.ts'

export interface Directory {
  /** The active participant with this sender_id; null when there is none, or it is disabled. */
  activeParticipant(sender_id: string): Promise<Participant | null>
  /** The participant with this `Participant.id`, whatever its status; null when there is none. */
  participantById(id: number): Promise<Participant | null>
  /** The registry with this namespace; undefined when there is none. Throws when this version cannot read it. */
  registry(namespace: string): Promise<Registry | undefined>
  /** The registry with this `Registry.id`; undefined when there is none. Throws when this version cannot read it. */
  registryById(id: number): Promise<Registry | undefined>
  /** All registries that this version can read, sorted by namespace. */
  registries(): Promise<readonly Registry[]>
}

type RegistryIdAndNamespace = Pick<Registry, 'id' | 'namespace'>

export function createDirectory(db: Database, log: Pick<Log, 'error'>, { now }: Pick<Clock, 'now'> = SYSTEM_CLOCK): Directory {
  const ages = { now }
  const participants = createShortLivedCache((sender_id) => findParticipant(db, sender_id), ages)
  const byId = createShortLivedCache((id) => findParticipantById(db, Number(id)), ages)
  // One cache entry for the whole list, so that an unknown namespace costs no query.
  const registries = createShortLivedCache(async () => {
    const read = await readRegistries(db)
    for (const row of read.unreadable) report(row)
    return read
  }, ages)
  const reported = new Set<number>()
  const report = ({ id, error }: UnreadableRegistry): void => {
    if (reported.has(id)) return
    reported.add(id)
    log.error({ registry: id, ...safeDatabaseError(error) }, 'a registry cannot be read; the others are served')
  }
  const registryWhere = async (is: (row: RegistryIdAndNamespace) => boolean): Promise<Registry | undefined> => {
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
    registries: async () => (await registries.get('all')).registries.toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1)),
  }
}

/** Reads the callback settings of participants through a cache of half a second. */
export interface CallbackSettingsReader {
  of(participant: Pick<Participant, 'id'>): Promise<CallbackSettings>
}

export function createCallbackSettingsReader(db: Database, { now }: Pick<Clock, 'now'> = SYSTEM_CLOCK): CallbackSettingsReader {
  const settings = createShortLivedCache((id) => findCallbackSettings(db, Number(id)), { now })
  return { of: ({ id }) => settings.get(String(id)) }
}
