/** A receiver of notifications, which counts: what came at each address, in which order, and under which message_ids. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The envelopes that came at one address. */
export interface Notified {
  /** The message_ids under which each record came, by its name. */
  readonly message_ids: Map<string, Set<string>>
  /** The distinct contents (header and message, letter by letter) by message_id. */
  readonly contents: Map<string, Set<string>>
  /** The names of the notified records, by the sequence of the envelope. */
  readonly sequences: Map<number, readonly string[]>
}

export interface NotifiedReceiver {
  readonly url: string
  /** The notifications by path of the address. */
  readonly addresses: ReadonlyMap<string, Notified>
  close(): Promise<void>
}

/** Now and then it fails, before it counted and after it. */
export async function notifiedReceiver(): Promise<NotifiedReceiver> {
  const addresses = new Map<string, Notified>()
  const server = createServer(async (request, response) => {
    let text = ''
    try {
      for await (const chunk of request.setEncoding('utf8')) text += chunk
    } catch {
      // Its sender was killed in the middle of it.
      return
    }
    const mood = Math.random()
    if (mood < 0.02) return void response.writeHead(503).end()
    count(addresses, request.url ?? '', text)
    if (mood < 0.04) return void response.socket?.resetAndDestroy()
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"message":{"ack_status":"ACK"}}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    addresses,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

interface Envelope {
  readonly header: { readonly message_id: string; readonly meta: { readonly sequence: number } }
  readonly message: {
    readonly notify_event: readonly {
      readonly data: { readonly reg_records: { readonly identifier: readonly { identifier_value: string }[] } }
    }[]
  }
}

function count(addresses: Map<string, Notified>, path: string, text: string): void {
  const { header, message } = JSON.parse(text) as Envelope
  const at: Notified = addresses.get(path) ?? { message_ids: new Map(), contents: new Map(), sequences: new Map() }
  addresses.set(path, at)
  const { message_id, meta } = header
  const names = message.notify_event.map(({ data }) => data.reg_records.identifier[0]?.identifier_value ?? '')
  for (const name of names) add(at.message_ids, name, message_id)
  add(at.contents, message_id, JSON.stringify({ header, message }))
  at.sequences.set(meta.sequence, names)
}

function add(sets: Map<string, Set<string>>, key: string, value: string): void {
  sets.set(key, (sets.get(key) ?? new Set()).add(value))
}
