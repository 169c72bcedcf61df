/** Removes what former mirrors have left: slots in their sources, and copies of records that are now read live. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError } from '@rollcall/database/database-errors'
import type { EnvironmentVariables } from '../engine/address.ts'
import { openEngine } from '../engines.ts'
import { readSourceWithoutRecords } from '../source-file.ts'
import {
  type AbandonedLogPosition,
  dropFormerMirrorCopies,
  forgetAbandonedPlace,
  type MirrorRemains,
} from '../store/changed-sources.ts'
import { logPlaceName } from '../store/mirrors.ts'
import { storedLogPosition } from './log-feed.ts'

/** The dependencies of `removeMirrorRemains`. */
export interface MirrorRemainsDeps {
  readonly db: Database
  /** The environment variables in which source files have their addresses. */
  readonly env: EnvironmentVariables
  readonly log: { warn(facts: object, message: string): void }
  readonly registries: () => Promise<readonly Registry[]>
}

/** Removes what mirrors have left. A source that cannot be reached keeps its slot, and the next call tries again. */
export async function removeMirrorRemains(
  { db, env, log, registries }: MirrorRemainsDeps,
  left: readonly MirrorRemains[],
): Promise<void> {
  const all = await registries()
  for (const { registry: id, abandoned, isOver } of left) {
    const registry = all.find((one) => one.id === id)
    if (registry === undefined) continue
    for (const place of abandoned) {
      try {
        await dropLogPlace(await logPlaceName(db.pool, registry), place, env)
        await forgetAbandonedPlace(db.pool, id, place)
      } catch (error) {
        const facts = { registry: registry.namespace, database: safeDatabaseError(error) }
        log.warn(facts, 'a former source still keeps its log for this registry: the slot cannot be dropped now')
      }
    }
    if (isOver) await dropFormerMirrorCopies(db, id)
  }
}

/**
 * Drops the replication slot in a former source if the slot has the log from the stored position on, or is lost (`isLost`). A
 * slot of the same name that begins later is kept: the registry follows the same database again, with this new slot. A new slot
 * that is lost is dropped too, because its mirror needs another one anyway.
 */
async function dropLogPlace(name: string, { source, position }: AbandonedLogPosition, env: EnvironmentVariables): Promise<void> {
  const engine = openEngine(readSourceWithoutRecords(source), env)
  try {
    const log = engine.log(name)
    const { isKept, isLost } = await log.state(storedLogPosition(position))
    if (isKept || isLost) await log.drop()
  } finally {
    await engine.close()
  }
}
