/**
 * The channel on which nodes that work hear of new work at once (LISTEN, NOTIFY). The payload is empty for an accepted
 * exchange, or the id of a participant for whom a delivery may be due. A notification may be lost: nodes also look by
 * themselves.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

export const WORK_CHANNEL = 'rollcall_work'

/** Milliseconds from a connection that was lost to the next one. */
const PAUSE = 1_000

interface Listener {
  readonly signal: AbortSignal
  readonly onExchanges: () => void
  /** @param participant `Participant.id` */
  readonly onDeliveries: (participant: number) => void
}

/** Listens on a connection of its own until the signal is aborted; a connection that is lost is replaced. Never rejects. */
export async function listen(
  connection: pg.ClientConfig,
  { signal, onExchanges, onDeliveries }: Listener,
): Promise<void> {
  while (!signal.aborted) {
    const client = new pg.Client(connection)
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    client.on('error', () => end())
    client.on('end', () => end())
    client.on('notification', ({ payload }) => {
      if (payload === undefined || payload === '') onExchanges()
      else onDeliveries(Number(payload))
    })
    signal.addEventListener('abort', () => end(), { once: true })
    try {
      await client.connect()
      await client.query(`listen ${WORK_CHANNEL}`)
      await ended
    } catch {
      // The node looks by itself meanwhile, and says when it cannot.
    }
    await client.end().catch(() => undefined)
    await sleep(PAUSE, undefined, { signal }).catch(() => undefined)
  }
}
