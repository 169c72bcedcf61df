/** Parts of a recorded exchange that differ between runs: ids, times, signatures and texts for people. */
import type { Answer } from '../server.ts'

/** Members whose values are made anew each time, by their names. The value says which kind of thing stood there. */
const MASKS: Readonly<Record<string, string>> = {
  signature: '<signature>',
  message_id: '<id>',
  correlation_id: '<id>',
  message_ts: '<time>',
  timestamp: '<time>',
  status_reason_message: '<text>',
  access_token: '<token>',
  error_description: '<text>',
}

const SUBSCRIPTION_CODE = /^SUB-[0-9A-Z]{24}$/

/** The text of an error stands in a member with a common name, so it is known by its parent. */
const TEXT_PARENTS: ReadonlySet<string> = new Set(['error', 'errors'])

/**
 * The value without what may differ.
 * @param sent ids and times that the request itself chose; where the answer repeats one, that is recorded
 */
export function masked(value: unknown, sent: ReadonlySet<unknown> = new Set(), parent = ''): unknown {
  if (typeof value === 'string' && SUBSCRIPTION_CODE.test(value)) return '<code>'
  if (Array.isArray(value)) return value.map((element) => masked(element, sent, parent))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const mask = name === 'message' && TEXT_PARENTS.has(parent) ? '<text>' : MASKS[name]
      const isMasked = mask !== undefined && typeof member === 'string' && !sent.has(member)
      return [name, isMasked ? mask : masked(member, sent, name)]
    }),
  )
}

/** Headers that a peer may rely on. */
const HEADERS = ['content-type', 'retry-after', 'www-authenticate', 'allow']

/** An answer as it is recorded. */
export const recorded = ({ status, headers, body }: Answer, sent?: ReadonlySet<unknown>): object => ({
  status,
  headers: Object.fromEntries(HEADERS.flatMap((name) => (headers.has(name) ? [[name, headers.get(name)]] : []))),
  body: masked(body, sent),
})
