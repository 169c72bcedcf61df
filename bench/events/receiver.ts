/** Where notifications arrive: it counts each message once, and says when all that are awaited are there. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface CountingReceiver {
  readonly url: string
  /** Forgets what came. */
  begin(): void
  /** Resolves when so many items have come since then: `performance.now()` of the last one. */
  awaitItems(items: number): Promise<number>
  /** Since then: envelopes, their bytes, the addresses at which they came, and `performance.now()` of the first. */
  counted(): { readonly envelopes: number; readonly bytes: number; readonly first: number }
  close(): Promise<void>
}

const ACK = '{"message":{"ack_status":"ACK"}}'
const ITEM = /"reg_records":/g

export async function countingReceiver(): Promise<CountingReceiver> {
  let envelopes = 0
  let bytes = 0
  let first = 0
  let items = 0
  let last = 0
  let awaited = { items: Number.POSITIVE_INFINITY, done: (_at: number): void => undefined }
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      last = performance.now()
      if (envelopes === 0) first = last
      envelopes += 1
      bytes += body.length
      items += body.match(ITEM)?.length ?? 0
      response.writeHead(200, { 'content-type': 'application/json' }).end(ACK)
      if (items >= awaited.items) awaited.done(last)
    })
  })
  server.listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    begin() {
      envelopes = 0
      bytes = 0
      items = 0
      awaited.items = Number.POSITIVE_INFINITY
    },
    awaitItems(wanted) {
      if (items >= wanted) return Promise.resolve(last)
      return new Promise((resolve) => {
        awaited = { items: wanted, done: resolve }
      })
    },
    counted: () => ({ envelopes, bytes, first }),
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
