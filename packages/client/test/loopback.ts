/** A small registry on loopback whose answers a test writes, and which remembers what it was asked. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Asked {
  readonly path: string
  readonly headers: IncomingMessage['headers']
  readonly text: string
  // The shapes of requests are what the tests are about; naming them here would hide what is asserted.
  // biome-ignore lint/suspicious/noExplicitAny: see above
  readonly body: any
}

/** Answers one request: a body to send with 200, or whatever it does with the response itself. */
export type Respond = (asked: Asked, response: ServerResponse) => object | undefined | Promise<object | undefined>

export interface Loopback {
  readonly url: string
  /** The address of a civil registry. */
  readonly base_url: string
  /** Requests of the protocol, in order. */
  readonly asked: Asked[]
  /** Requests for tokens, in order. */
  readonly tokens: Asked[]
  close(): Promise<void>
}

/**
 * @param script answers the requests one after the other; the last one answers all that follow
 * @param tokens answers token requests
 */
export async function loopback(script: readonly Respond[], tokens: Respond = issue): Promise<Loopback> {
  const asked: Asked[] = []
  const tokenRequests: Asked[] = []
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const text = Buffer.concat(chunks).toString()
    const path = request.url ?? ''
    const isToken = path.endsWith('/token')
    const body = isToken ? Object.fromEntries(new URLSearchParams(text)) : text === '' ? {} : JSON.parse(text)
    const one: Asked = { path, headers: request.headers, text, body }
    const list = isToken ? tokenRequests : asked
    const respond = isToken ? tokens : script[Math.min(list.length, script.length - 1)]
    list.push(one)
    const said = await respond?.(one, response)
    if (said !== undefined) json(response, 200, said)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url,
    base_url: `${url}/civil/v1.0.0`,
    asked,
    tokens: tokenRequests,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

let issued = 0

/** A new token each time, for an hour. */
export const issue: Respond = () => {
  issued += 1
  return { access_token: `token-${issued}`, token_type: 'bearer', expires_in: '3600' }
}

export function json(response: ServerResponse, status: number, body: object, headers: Record<string, string> = {}): undefined {
  response.writeHead(status, { 'Content-Type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** Answers with an error of the protocol. */
export const refusing =
  (status: number, code: string, headers: Record<string, string> = {}): Respond =>
  (_asked, response) => {
    const error = { code, message: `because of ${code}` }
    const message = { ack_status: 'ERR', timestamp: NOW, correlation_id: 'c-err', error }
    return json(response, status, { message, errors: [error] }, headers)
  }

/** Ends the connection without a word. */
export const dropping: Respond = (_asked, response) => {
  response.destroy()
  return undefined
}

/** Never answers. */
export const hanging: Respond = () => undefined

const NOW = '2026-02-03T09:15:00.000Z'

export const ack =
  (ack_status = 'ACK', correlation_id = 'c-1'): Respond =>
  () => ({ message: { ack_status, timestamp: NOW, correlation_id } })

/** Answers a search, unsigned: one item for each that was asked, with these records. */
export const finding =
  (records: readonly object[], changes: { header?: object; item?: object; message?: object } = {}): Respond =>
  ({ body }) => ({
    header: {
      version: '1.0.0',
      message_id: 'm-answer',
      message_ts: NOW,
      action: 'on-search',
      status: 'succ',
      sender_id: 'civil.example',
      receiver_id: body.header.sender_id,
      total_count: body.message.search_request.length,
      ...changes.header,
    },
    message: {
      transaction_id: body.message.transaction_id,
      correlation_id: 'c-1',
      search_response: body.message.search_request.map((item: { reference_id: string }) => ({
        reference_id: item.reference_id,
        timestamp: NOW,
        status: 'succ',
        data: { reg_records: records },
        ...changes.item,
      })),
      ...changes.message,
    },
  })
