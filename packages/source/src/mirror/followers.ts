/** The followers of a node: the node claims each mirror that no other node follows, and follows the mirror's source. */

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createLoopWake, type LoopWake } from '@rollcall/base/shared/wake'
import type { Limits } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import { safeDatabaseError, sqlStateOrSystemCode } from '@rollcall/database/database-errors'
import { canonicalJson } from '@rollcall/protocol'
import type { EnvironmentVariables } from '../engine/address.ts'
import type { MirrorSettings, SourceFile } from '../engine/mapped-records.ts'
import { makeRefusal, SourceRefusal } from '../engine/source-refusal.ts'
import { openEngine } from '../engines.ts'
import { readSourceFile } from '../source-file.ts'
import {
  ClaimLost,
  claimMirror,
  logPlaceName,
  type MirrorClaim,
  noteMirrorFailure,
  releaseMirror,
  renewMirror,
} from '../store/mirrors.ts'
import { followSource } from './follow-source.ts'

/** The dependencies of `startFollowers`. */
export interface FollowerDeps {
  readonly db: Database
  /** The environment variables in which source files have their addresses. */
  readonly env: EnvironmentVariables
  readonly limits: Pick<Limits, 'birth_span' | 'correction_time' | 'node_lease'>
  readonly log: { warn(facts: object, message: string): void; info(facts: object, message: string): void }
  /** Reads all registries, as they are stored now. */
  readonly registries: () => Promise<readonly Registry[]>
  /** Ends the pause between two polls of the registries, such as when a registry gets another source file. */
  readonly wake?: LoopWake
  readonly clock?: Clock
}

export interface RunningFollowers {
  /** Stops all followers, so that other nodes can follow at once. */
  stop(): Promise<void>
}

/**
 * Milliseconds between two polls of the list of registries: while there are mirrors, whose claims each poll renews, and while
 * there are none. A new mirror wakes the node.
 */
const REGISTRY_POLL_INTERVALS_MS = { mirrors: 1_000, none: 20_000 }
/** Milliseconds before a failed source is tried again: at first, and at most. */
const RETRY_PAUSES_MS = { first: 1_000, longest: 15_000 }

interface Follower {
  /** The registry as it was when this follower began. */
  readonly registry: Registry
  readonly stopping: AbortController
  readonly claim: MirrorClaim
  readonly ended: Promise<void>
}

/** Begins to follow the mirrors that no other node follows, now and later, until `stop`. */
export function startFollowers(deps: FollowerDeps): RunningFollowers {
  const { db, limits, log, wake = createLoopWake() } = deps
  const stopping = new AbortController()
  const followers = new Map<number, Follower>()
  const claim = randomUUID()

  const begin = async (registry: Registry): Promise<void> => {
    const own: MirrorClaim = { registry: registry.id, claim }
    if ((await claimMirror(db.pool, own, registry.source ?? {}, limits.node_lease)) === null) return
    const ending = new AbortController()
    const ended = followUntilStopped(deps, registry, own, ending.signal).finally(() => followers.delete(registry.id))
    followers.set(registry.id, { registry, stopping: ending, claim: own, ended })
  }
  let pause = REGISTRY_POLL_INTERVALS_MS.mirrors
  const look = async (): Promise<void> => {
    const mirrors = (await deps.registries()).filter(isMirror)
    pause = mirrors.length > 0 ? REGISTRY_POLL_INTERVALS_MS.mirrors : REGISTRY_POLL_INTERVALS_MS.none
    for (const [id, follower] of followers) {
      const registry = mirrors.find((one) => one.id === id)
      const isSame = registry !== undefined && !hasKindOrSourceChanged(registry, follower.registry)
      const isHeld = isSame && (await renewMirror(db.pool, follower.claim, limits.node_lease))
      if (!isHeld) follower.stopping.abort()
    }
    for (const registry of mirrors) if (!followers.has(registry.id)) await begin(registry)
  }
  const looking = (async () => {
    while (!stopping.signal.aborted) {
      await look().catch((error: unknown) =>
        log.warn({ database: safeDatabaseError(error) }, 'sources cannot be followed now; tried again soon'),
      )
      wake.raise(pause)
      await wake.wait(stopping.signal)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await looking
      const all = [...followers.values()]
      for (const follower of all) follower.stopping.abort()
      await Promise.all(all.map(({ ended }) => ended))
      await Promise.all(all.map((follower) => releaseMirror(db.pool, follower.claim).catch(() => undefined)))
    },
  }
}

/** True when the records of a registry are copied from a source. */
export const isMirror = ({ own_records, source }: Registry): boolean => own_records && source !== null

/** True when the kind or source file has changed, so that the follower must begin again. Equal kinds are one object. */
const hasKindOrSourceChanged = (now: Registry, before: Registry): boolean =>
  now.kind !== before.kind || canonicalJson(now.source as never) !== canonicalJson(before.source as never)

/** Follows a source, and begins again after each failure, until the signal is aborted or the claim is lost. */
async function followUntilStopped(
  { db, env, limits, log, clock = SYSTEM_CLOCK }: FollowerDeps,
  registry: Registry,
  claim: MirrorClaim,
  signal: AbortSignal,
): Promise<void> {
  let pause = 0
  while (!signal.aborted) {
    try {
      const place = await claimMirror(db.pool, claim, registry.source ?? {}, limits.node_lease)
      if (place === null) return
      const file = readMirrorFile(registry)
      const engine = openEngine(file, env)
      try {
        const began = clock.now()
        const waits = (what: string) => noteMirrorFailure(db.pool, claim, what).catch(() => undefined)
        const placeName = await logPlaceName(db.pool, registry)
        const deps = { db, registry, file, engine, claim, placeName, limits, log, waits, now: () => new Date(clock.date()) }
        await followSource(deps, place, signal).finally(() => {
          if (clock.now() - began > RETRY_PAUSES_MS.longest) pause = 0
        })
      } finally {
        await engine.close().catch(() => undefined)
      }
    } catch (error) {
      if (signal.aborted || error instanceof ClaimLost) return
      const failure = failureText(error)
      if (pause === 0) {
        log.warn({ registry: registry.namespace, database: safeDatabaseError(error) }, 'a source cannot be followed now')
      }
      // If our own database is away, the failure cannot be stored.
      await noteMirrorFailure(db.pool, claim, failure).catch(() => undefined)
      pause = Math.min(RETRY_PAUSES_MS.longest, Math.max(RETRY_PAUSES_MS.first, 2 * pause))
      await sleep(pause, undefined, { signal }).catch(() => undefined)
    }
  }
}

function readMirrorFile(registry: Registry): SourceFile & { readonly mirror: MirrorSettings } {
  const file = readSourceFile(registry.source, registry.kind)
  if (file.mirror === null) throw makeRefusal(['way'], 'must be mirror')
  return { ...file, mirror: file.mirror }
}

/** A failure in words for an operator. Messages of our own database are left out, because they may quote a value. */
const failureText = (error: unknown): string =>
  error instanceof SourceRefusal
    ? error.message
    : `Rollcall failed to write the records (${sqlStateOrSystemCode(error) || 'see the log of the node'}); it tries again`
