/** The session cookie of our pages. A call with this cookie is refused when another page in the same browser makes the call. */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'

/** True when the browser of a request speaks TLS with the proxy before us. Always false without a proxy: we speak no TLS. */
export type IsReachedByTls = (request: Pick<IncomingMessage, 'headers'>) => boolean

/** The names by which the sessions of the console and those of the partner page differ. */
export interface SessionPageNames {
  /** The name of the cookie, without the prefix `__Host-` that it has with TLS. */
  readonly cookie: string
  /** The name of a header that every call of these pages has. We allow no page of another origin to send it. */
  readonly header: string
  /** The name of these pages in error texts. */
  readonly title: string
}

export interface SessionCookies {
  /** Reads the session's cookie; null: none. @throws RequestFault 400 for two cookies: one may be somebody else's */
  read(request: Pick<IncomingMessage, 'headers'>, byTls: boolean): string | null
  /** Makes the Set-Cookie header that begins a session. The browser deletes the cookie when the browser is closed. */
  begun(value: string, byTls: boolean): string
  /** The Set-Cookie header that ends a session. */
  ended(byTls: boolean): string
  /**
   * Checks that the call comes from these pages.
   * @returns acts: true when a person did something, false when the page polls by itself
   * @throws RequestFault 403 the call does not come from these pages
   */
  checkOwn(headers: IncomingHttpHeaders): { readonly acts: boolean }
}

/** True for a call that a person caused, false for a poll of the page, by the value of the header `SessionPageNames.header`. */
const IS_ACTIVITY_BY_HEADER_VALUE: Readonly<Record<string, boolean>> = { '1': true, poll: false }

export function createSessionCookies({ cookie, header, title }: SessionPageNames): SessionCookies {
  // With `__Host-`, no other host can set the cookie, and it is sent only by TLS. Its path must be `/`.
  const nameOf = (byTls: boolean): string => (byTls ? `__Host-${cookie}` : cookie)
  const begun = (value: string, byTls: boolean): string =>
    `${nameOf(byTls)}=${value}; Path=/; HttpOnly; SameSite=Strict${byTls ? '; Secure' : ''}`
  return {
    read: (request, byTls) => readCookie(request, nameOf(byTls)),
    begun,
    ended: (byTls) => `${begun('', byTls)}; Max-Age=0`,
    checkOwn(headers) {
      const value = headers[header.toLowerCase()]
      const acts =
        typeof value === 'string' && Object.hasOwn(IS_ACTIVITY_BY_HEADER_VALUE, value)
          ? IS_ACTIVITY_BY_HEADER_VALUE[value]
          : undefined
      if (acts === undefined) {
        throw foreignCallFault(`${header}: must be 1, or poll, in a call with the cookie of a session`)
      }
      const site = headers['sec-fetch-site']
      if (site !== undefined && site !== 'same-origin') {
        throw foreignCallFault(`Sec-Fetch-Site: a session is for the pages of ${title} alone`)
      }
      if (headers.origin !== undefined && !isOwnOrigin(headers.origin, headers.host)) {
        throw foreignCallFault(`Origin: must be the address in Host: a session is for the pages of ${title} alone`)
      }
      return { acts }
    },
  }
}

/** True when an origin has the host and port of the request. Old browsers send no Sec-Fetch-Site, but send Origin. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin)
  return page !== null && page.origin === origin && page.host === URL.parse(`${page.protocol}//${host}`)?.host
}

const foreignCallFault = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)

/** Reads a cookie; null when there is none. @throws RequestFault 400 there are two */
export function readCookie({ headers }: Pick<IncomingMessage, 'headers'>, name: string): string | null {
  const values = (headers.cookie ?? '')
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
  if (values.length > 1) throw new RequestFault('err.request.bad', `Cookie: ${name} must be sent once`)
  return values[0] ?? null
}
