/** The peer's side, which counts: every callback that came, and whether repetitions of one are the same. */
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A page of an answer, with the number of times that it came. */
export interface CountedPage {
  readonly message_ids: Set<string>
  /** Header and message of each, letter by letter. */
  readonly contents: Set<string>
  /** Statuses of all items together. */
  readonly statuses: Set<string>
  records: number
  times: number
}

export interface CountingReceiver {
  readonly url: string
  /** The pages of answers, by correlation_id, then by page number. */
  readonly answers: ReadonlyMap<string, ReadonlyMap<number, CountedPage>>
  /** Callbacks that could not be read. */
  readonly unreadable: string[]
  /**
   * The treatment of the next callback. `answer`: it is acknowledged; `counted`: it is counted, and the caller has
   * answered it; `done`: the same, and it is not counted.
   */
  treat: (response: ServerResponse) => 'answer' | 'counted' | 'done'
  close(): Promise<void>
}

export async function countingReceiver(): Promise<CountingReceiver> {
  const answers = new Map<string, Map<number, CountedPage>>()
  const unreadable: string[] = []
  const server: Server = createServer(async (request, response) => {
    let text = ''
    try {
      for await (const chunk of request.setEncoding('utf8')) text += chunk
    } catch {
      // Its sender was killed in the middle of it.
      return
    }
    const treated = receiver.treat(response)
    if (treated === 'done') return
    try {
      count(answers, text)
    } catch {
      unreadable.push(text.slice(0, 500))
    }
    if (treated === 'counted') return
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ message: { ack_status: 'ACK', timestamp: new Date().toISOString() } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const receiver: CountingReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    answers,
    unreadable,
    treat: () => 'answer',
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  return receiver
}

interface Callback {
  readonly header: { readonly message_id: string; readonly action: string }
  readonly message: {
    readonly correlation_id: string
    readonly search_response: readonly {
      readonly status: string
      readonly pagination?: { readonly page_number: number }
      readonly data?: { readonly reg_records: readonly unknown[] }
    }[]
  }
}

function count(answers: Map<string, Map<number, CountedPage>>, text: string): void {
  const { header, message } = JSON.parse(text) as Callback
  if (header.action !== 'on-search') throw new Error(`unexpected ${header.action}`)
  const items = message.search_response
  const page = items[0]?.pagination?.page_number ?? 1
  const pages = answers.get(message.correlation_id) ?? new Map<number, CountedPage>()
  answers.set(message.correlation_id, pages)
  const counted = pages.get(page) ?? {
    message_ids: new Set<string>(),
    contents: new Set<string>(),
    statuses: new Set<string>(),
    records: 0,
    times: 0,
  }
  pages.set(page, counted)
  counted.message_ids.add(header.message_id)
  counted.contents.add(JSON.stringify({ header, message }))
  for (const { status } of items) counted.statuses.add(status)
  counted.records = items.reduce((sum, { data }) => sum + (data?.reg_records.length ?? 0), 0)
  counted.times += 1
}
