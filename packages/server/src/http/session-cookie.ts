/**
 * The session cookie of our pages, and how a call with a cookie shows that it comes from these pages and not from
 * another page in the same browser.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'

/** True when the browser of a request speaks TLS with the proxy before us. */
export type IsReachedByTls = (request: Pick<IncomingMessage, 'headers'>) => boolean

/** The pages that a session is for. */
export interface SessionPages {
  /** Name of the cookie. */
  readonly cookie: string
  /** A header of every call of these pages. A page of another origin cannot send it: we allow none to its browser. */
  readonly header: string
  /** The pages' name for people. */
  readonly title: string
}

export interface SessionCookies {
  /**
   * The session's cookie in a request; null for none.
   * @throws RequestFault 400 for two cookies: one may be somebody else's
   */
  read(request: Pick<IncomingMessage, 'headers'>, byTls: boolean): string | null
  /** The Set-Cookie header that begins a session. The browser forgets it when it closes. */
  begun(value: string, byTls: boolean): string
  /** The Set-Cookie header that ends a session. */
  ended(byTls: boolean): string
  /**
   * @returns whether a person acts: a page may also reload itself
   * @throws RequestFault 403 the call does not come from these pages
   */
  checkOwn(headers: IncomingHttpHeaders): { readonly acts: boolean }
}

/** Whether a person acts, by the value of the header. */
const ACTS: Readonly<Record<string, boolean>> = { '1': true, poll: false }

export function sessionCookies({ cookie, header, title }: SessionPages): SessionCookies {
  // `__Host-`: no other host can set the cookie, and it is sent only by TLS. Its path is `/`.
  const nameOf = (byTls: boolean): string => (byTls ? `__Host-${cookie}` : cookie)
  const begun = (value: string, byTls: boolean): string =>
    `${nameOf(byTls)}=${value}; Path=/; HttpOnly; SameSite=Strict${byTls ? '; Secure' : ''}`
  return {
    read: (request, byTls) => readCookie(request, nameOf(byTls)),
    begun,
    ended: (byTls) => `${begun('', byTls)}; Max-Age=0`,
    checkOwn(headers) {
      const value = headers[header.toLowerCase()]
      const acts = typeof value === 'string' && Object.hasOwn(ACTS, value) ? ACTS[value] : undefined
      if (acts === undefined) {
        throw forbidden(`${header}: must be 1, or poll, in a call with the cookie of a session`)
      }
      const site = headers['sec-fetch-site']
      if (site !== undefined && site !== 'same-origin') {
        throw forbidden(`Sec-Fetch-Site: a session is for the pages of ${title} alone`)
      }
      if (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host)) {
        throw forbidden(`Origin: must be the address in Host: a session is for the pages of ${title} alone`)
      }
      return { acts }
    },
  }
}

/** True when a page of this origin has the request's host and port. Browsers without Sec-Fetch-Site send it too. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin)
  return page !== null && page.origin === origin && page.host === URL.parse(`${page.protocol}//${host}`)?.host
}

const forbidden = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)

/** The value of a cookie; null for none. @throws RequestFault 400 there are two */
export function readCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  if (values.length > 1) throw new RequestFault('err.request.bad', `Cookie: ${name} must be sent once`)
  return values[0] ?? null
}
