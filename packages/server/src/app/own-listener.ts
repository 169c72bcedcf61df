/** Sends requests to our own listener for peers, as the participant of a demo or sandbox would. */
import type { PeersListenerAnswer, PeersListenerClient } from '@rollcall/admin/try/try'

export interface PeersListenerClientWithAddress extends PeersListenerClient {
  /** Sets the address of the listener, once it listens. */
  listensAt(url: string): void
  /** The address of the listener; null before it listens. */
  address(): string | null
}

/** Milliseconds that one request to our own listener may take. */
const SELF_REQUEST_TIMEOUT_MS = 60_000

/** Makes the object by which we call our own listener. Until `listensAt` is called, `post` sends nothing and returns null. */
export function createPeersListenerClient(): PeersListenerClientWithAddress {
  let url: string | null = null
  return {
    listensAt(address) {
      url = address
    },
    address: () => url,
    async post(path, { token, body }): Promise<PeersListenerAnswer | null> {
      if (url === null) return null
      const response = await fetch(`${url}${path}`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
        body,
        redirect: 'error',
        signal: AbortSignal.timeout(SELF_REQUEST_TIMEOUT_MS),
      })
      return { status: response.status, text: await response.text() }
    },
  }
}
