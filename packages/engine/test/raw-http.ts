/** HTTP by hand, for what no client would send. */
import { subscribe } from 'node:diagnostics_channel'
import { connect, type Socket } from 'node:net'
import { expect } from 'vitest'

export interface RawResponse {
  readonly status: number
  /** Names in lower case. */
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

export interface RawConnection {
  readonly socket: Socket
  write(...parts: readonly (string | Buffer)[]): void
  /** The next response; 1xx ones are responses too. Rejects when the connection ends before it is complete. */
  response(): Promise<RawResponse>
  /** Resolves with what came and was not read as a response, once the other side has closed. */
  closed(): Promise<string>
  destroy(): void
  /** Resolves when the server, one of this process, has read what was written. */
  taken(): Promise<void>
  /** Resolves when the server, one of this process, knows that the connection has ended. */
  dropped(): Promise<void>
}

/** The other ends of connections to servers of this process, by the port of this end. */
const accepted = new Map<number, Socket>()
subscribe('net.server.socket', (message) => {
  const { socket } = message as { socket: Socket }
  if (socket.remotePort !== undefined) accepted.set(socket.remotePort, socket)
})

/** Whatever takes longer than this many milliseconds counts as a hang. */
const PATIENCE = 60_000
const POLL = { timeout: PATIENCE, interval: 2 }

export async function rawConnection(port: number): Promise<RawConnection> {
  const socket = connect(port, '127.0.0.1')
  let received = Buffer.alloc(0)
  let ended = false
  let notify = (): void => {}
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk])
    notify()
  })
  const end = (): void => {
    ended = true
    notify()
  }
  socket.on('close', end).on('error', end)
  await new Promise((resolve, reject) => socket.once('connect', resolve).once('error', reject))
  const { localPort = 0 } = socket
  const other = (): Socket | undefined => accepted.get(localPort)

  /** Looks again at every chunk until `look` has found something. */
  async function until<Found>(what: string, look: () => Found | undefined): Promise<Found> {
    const deadline = Date.now() + PATIENCE
    for (;;) {
      const found = look()
      if (found !== undefined) return found
      const left = deadline - Date.now()
      if (left <= 0) throw new Error(`${what}: nothing within ${PATIENCE} ms; received: ${received.toString()}`)
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, left)
        notify = () => {
          clearTimeout(timer)
          resolve()
        }
      })
    }
  }

  return {
    socket,
    write(...parts) {
      for (const part of parts) if (socket.writable) socket.write(part)
    },
    response: () =>
      until('a response', () => {
        const parsed = parse(received)
        if (parsed !== undefined) {
          received = received.subarray(parsed.length)
          return parsed.response
        }
        if (ended) throw new Error(`closed before a whole response; received: ${received.toString().slice(0, 500)}`)
        return undefined
      }),
    closed: () => until('the end', () => (ended ? received.toString() : undefined)),
    destroy: () => socket.destroy(),
    taken: () => expect.poll(() => other()?.bytesRead, POLL).toBe(socket.bytesWritten),
    async dropped() {
      await expect.poll(() => other()?.destroyed, POLL).toBe(true)
    },
  }
}

function parse(received: Buffer): { response: RawResponse; length: number } | undefined {
  const end = received.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = received.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1])
  const start = end + 4
  const length = start + Number(headers.get('content-length') ?? 0)
  if (received.length < length) return undefined
  return { response: { status, headers, body: received.subarray(start, length).toString() }, length }
}
