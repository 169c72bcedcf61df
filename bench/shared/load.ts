/**
 * Loads a server with autocannon: every connection sends its next request when the answer to the last one is there. Autocannon is
 * known, builds a request for each call and answers more than either server does; what it costs is the same for both.
 */
import autocannon, { type Instance, type Options, type Result } from 'autocannon'
import { percentile, rounded } from './statistics.ts'

export interface Load {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly connections: number
  readonly seconds: number
  /** The number of requests, however long they take; 0: as many as are answered in the given seconds. */
  readonly requests: number
  /** Asked for every request; throws an Error when there is nothing to ask any more. */
  readonly next: () => { readonly body: string; readonly asked: string }
  /** Looks at every answer; throws an Error for a wrong one. `asked` is what `next` gave with the request. */
  readonly check: (status: number, body: string, asked: string) => void
}

export interface Loaded {
  readonly requests: number
  readonly requests_per_second: number
  readonly p50_ms: number
  readonly p99_ms: number
}

/** @throws Error for the first wrong answer, and when a request failed or timed out */
export async function load({ url, headers, connections, seconds, requests, next, check }: Load): Promise<Loaded> {
  const times: number[] = []
  let wrong: unknown
  let first = 0
  let last = 0
  const { instance, result } = fire({
    url,
    method: 'POST',
    headers,
    connections,
    ...(requests > 0 ? { amount: requests } : { duration: seconds }),
    requests: [
      {
        setupRequest(request, context) {
          try {
            const { body, asked } = next()
            Object.assign(context, { asked })
            request.body = body
          } catch (error) {
            wrong ??= error
            instance.stop()
          }
          return request
        },
        onResponse(status, body, context) {
          try {
            check(status, body, (context as { asked: string }).asked)
          } catch (error) {
            wrong ??= error
            instance.stop()
          }
        },
      },
    ],
  })
  instance.on('response', (_client, _status, _bytes, milliseconds) => {
    times.push(milliseconds)
    last = performance.now()
    first ||= last
  })
  const { errors, timeouts } = await result
  if (wrong !== undefined) throw wrong
  if (errors + timeouts > 0) throw new Error(`${errors} requests failed, ${timeouts} timed out`)
  return {
    requests: times.length,
    requests_per_second: rounded(((times.length - 1) * 1_000) / (last - first), 0),
    p50_ms: rounded(percentile(times, 0.5), 2),
    p99_ms: rounded(percentile(times, 0.99), 2),
  }
}

/** Autocannon started: to be listened to, and what it finds in the end. */
function fire(options: Options): { instance: Instance; result: Promise<Result> } {
  const { promise: result, resolve, reject } = Promise.withResolvers<Result>()
  const instance = autocannon(options, (error, found) => (error ? reject(error) : resolve(found)))
  return { instance, result }
}
