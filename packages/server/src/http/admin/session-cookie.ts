/** The cookie of a session of the console, and how a call that has one shows that it comes from the console's own pages. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'

/** Whether the browser that sent a request speaks TLS with the proxy in front of us. */
export type IsReachedByTls = (request: Pick<IncomingMessage, 'headers'>) => boolean

/** A cookie of our own. A name with `__Host-` is one that no other host can set, and that is sent by TLS alone. */
interface CookieKind {
  readonly name: string
  readonly attributes: string
}

const COOKIES = {
  plain: { name: 'rollcall_session', attributes: 'Path=/; HttpOnly; SameSite=Strict' },
  tls: { name: '__Host-rollcall_session', attributes: 'Path=/; HttpOnly; SameSite=Strict; Secure' },
} as const satisfies Record<string, CookieKind>

/**
 * The cookie of the session in a request; null where there is none.
 * @throws RequestFault 400 where it is there twice: one of them may come from somebody else
 */
export function readSessionCookie(request: Pick<IncomingMessage, 'headers'>, byTls: boolean): string | null {
  return readCookie(request, COOKIES[byTls ? 'tls' : 'plain'].name)
}

/** The Set-Cookie header that begins a session. The browser forgets it when it is closed. */
export function sessionCookie(value: string, byTls: boolean): string {
  const { name, attributes } = COOKIES[byTls ? 'tls' : 'plain']
  return `${name}=${value}; ${attributes}`
}

/** The Set-Cookie header that ends a session. */
export const endedSessionCookie = (byTls: boolean): string => `${sessionCookie('', byTls)}; Max-Age=0`

/** @throws RequestFault 400 */
export function readCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  if (values.length > 1) throw new RequestFault('err.request.bad', `Cookie: ${name} must be sent once`)
  return values[0] ?? null
}

/** The header of the console. A page of another origin cannot send it: a browser would ask us first, and we allow nobody. */
const CONSOLE_HEADER = 'rollcall-console'

/** By the value of the header, whether the operator did something: a page may also look by itself. */
const ACTS: Readonly<Record<string, boolean>> = { '1': true, poll: false }

/**
 * A call with a cookie comes from the pages of the console, and not from another page that is open in the same browser.
 * @returns whether the operator did something
 * @throws RequestFault 403
 */
export function checkFromConsole(headers: IncomingHttpHeaders): { readonly acts: boolean } {
  const value = headers[CONSOLE_HEADER]
  const acts = typeof value === 'string' && Object.hasOwn(ACTS, value) ? ACTS[value] : undefined
  if (acts === undefined) {
    throw forbidden('Rollcall-Console: must be 1, or poll, in a call with the cookie of a session')
  }
  const site = headers['sec-fetch-site']
  if (site === undefined || site === 'same-origin') return { acts }
  throw forbidden('Sec-Fetch-Site: a session is for the pages of the console alone')
}

const forbidden = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)
