/** A syslog server as witness: messages of RFC 5424, one datagram each over UDP, or framed over TCP (RFC 6587). */
import { createSocket } from 'node:dgram'
import { createConnection, type Socket } from 'node:net'
import { hostname } from 'node:os'
import type { WitnessTarget } from './witness-target.ts'

/** Facility 13 (log audit), severity 5 (notice). */
const SYSLOG_PRIORITY = 13 * 8 + 5

export interface SyslogAddress {
  readonly kind: 'udp' | 'tcp'
  readonly host: string
  readonly port: number
}

/** Makes the syslog message that has a line of the witness. */
export function syslogMessage(line: string, at: Date = new Date()): string {
  const host =
    hostname()
      .replace(/[^\x21-\x7e]/g, '')
      .slice(0, 255) || '-'
  return `<${SYSLOG_PRIORITY}>1 ${at.toISOString()} ${host} rollcall ${process.pid} checkpoint - ${line}`
}

export const syslogWitness = (address: SyslogAddress): WitnessTarget =>
  address.kind === 'udp' ? udpWitness(address) : tcpWitness(address)

function udpWitness({ host, port }: SyslogAddress): WitnessTarget {
  return {
    async write(lines, signal) {
      const socket = createSocket(host.includes(':') ? 'udp6' : 'udp4')
      try {
        for (const line of lines) await untilAborted(signal, sendDatagram(socket, syslogMessage(line), { host, port }))
      } finally {
        socket.close()
      }
    },
    close: () => Promise.resolve(),
  }
}

function sendDatagram(
  socket: ReturnType<typeof createSocket>,
  message: string,
  { host, port }: Pick<SyslogAddress, 'host' | 'port'>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.send(message, port, host, (error) => (error ? reject(error) : resolve()))
  })
}

/** Writes over TCP. Each write opens a connection, so that a server that went away is noticed at once. */
function tcpWitness({ host, port }: SyslogAddress): WitnessTarget {
  return {
    async write(lines, signal) {
      const messages = lines.map((line) => Buffer.from(syslogMessage(line)))
      const framed = messages.flatMap((message) => [Buffer.from(`${message.length} `), message])
      const socket = createConnection({ host, port })
      try {
        await untilAborted(signal, sendAllBytes(socket, Buffer.concat(framed)))
      } catch (error) {
        socket.destroy()
        throw error
      }
    },
    close: () => Promise.resolve(),
  }
}

/** Settles as `work` does, or rejects when the signal is aborted first. */
function untilAborted(signal: AbortSignal, work: Promise<void>): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason)
    if (signal.aborted) abort()
    signal.addEventListener('abort', abort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort))
  })
}

/** Sends bytes; resolves when the system has taken them all. */
function sendAllBytes(socket: Socket, bytes: Buffer): Promise<void> {
  return new Promise((resolve, reject) => {
    // A server that does not close its side must not keep our process running.
    socket.once('finish', () => resolve(void socket.resume().unref()))
    socket.on('error', reject)
    socket.end(bytes)
  })
}
