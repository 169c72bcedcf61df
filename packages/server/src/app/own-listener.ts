/** Requests to our own listener for peers, as a participant of a demo or a sandbox would send them. */
import type { OwnAnswer, OwnListener } from '@rollcall/admin/try/try'

export interface ConnectedListener extends OwnListener {
  /** From now on requests go to this address; before, there is none. */
  listensAt(url: string): void
  /** Null before it listens. */
  address(): string | null
}

/** Milliseconds for one request. */
const TIMEOUT = 60_000

export function createOwnListener(): ConnectedListener {
  let url: string | null = null
  return {
    listensAt(address) {
      url = address
    },
    address: () => url,
    async post(path, { token, body }): Promise<OwnAnswer | null> {
      if (url === null) return null
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(TIMEOUT),
      })
      return { status: response.status, text: await response.text() }
    },
  }
}
