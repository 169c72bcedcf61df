import { setTimeout as sleep } from 'node:timers/promises'
import type { Cluster } from './cluster.ts'
import { findPostmaster } from './lock-file.ts'
import { connect, enter, leave, type Session } from './session.ts'

/** Milliseconds between attempts to bring back a PostgreSQL that went away. */
const PAUSE = 2_000

/** Milliseconds that a close waits for a PostgreSQL that recovers from a crash. */
const RECOVERY = 10_000

/** Our use of the cluster, for as long as we want it. */
export interface Hold {
  /** Ends it; the last user stops PostgreSQL. */
  release(): Promise<void>
}

/**
 * Keeps the shared lock of `first`: when its connection breaks, because PostgreSQL crashed, was killed or restarted,
 * takes the lock again, and starts PostgreSQL where nobody else does. The socket stays in the same place.
 */
export function keepHold(cluster: Cluster, first: Session): Hold {
  const releasing = new AbortController()
  let session: Session | null = null
  let renewal: Promise<void> = Promise.resolve()

  function watch(current: Session): void {
    session = current
    current.client.once('end', () => {
      session = null
      if (!releasing.signal.aborted) renewal = renew()
    })
  }

  async function renew(): Promise<void> {
    while (session === null && !releasing.signal.aborted) {
      try {
        watch(await enter(cluster, releasing.signal))
      } catch {
        // Those who wait for a database see their own errors meanwhile; the next attempt may go better.
        await sleep(PAUSE, undefined, { signal: releasing.signal }).catch(() => undefined)
      }
    }
  }

  watch(first)
  return {
    async release() {
      releasing.abort()
      await renewal
      if (session && (await leave(session, cluster))) return
      const again = await reconnect(cluster)
      if (again) await leave(again, cluster)
    },
  }
}

/**
 * A connection for one that lost its own, to find out whether it was the last user; null when nothing runs, or when
 * PostgreSQL does not recover in time: the next start adopts it then.
 */
async function reconnect(cluster: Cluster): Promise<Session | null> {
  for (const end = Date.now() + RECOVERY; Date.now() < end; await sleep(50)) {
    const postmaster = await findPostmaster(cluster)
    if (postmaster === null) return null
    const client = await connect(cluster, postmaster)
    if (client) return { client, postmaster }
  }
  return null
}
