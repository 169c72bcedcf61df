/**
 * The cookie of a session of pages that we serve, and how a call that has one shows that it comes from these pages and not from
 * another page that is open in the same browser.
 */
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { RequestFault } from '@rollcall/protocol'

/** Whether the browser that sent a request speaks TLS with the proxy in front of us. */
export type IsReachedByTls = (request: Pick<IncomingMessage, 'headers'>) => boolean

/** The pages that a session is for. */
export interface SessionPages {
  /** Of the cookie. */
  readonly cookie: string
  /** A header that these pages send with every call. A page of another origin cannot send it: a browser would ask us first, and we allow nobody. */
  readonly header: string
  /** For people. */
  readonly title: string
}

export interface SessionCookies {
  /**
   * The cookie of the session in a request; null where there is none.
   * @throws RequestFault 400 where it is there twice: one of them may come from somebody else
   */
  read(request: Pick<IncomingMessage, 'headers'>, byTls: boolean): string | null
  /** The Set-Cookie header that begins a session. The browser forgets it when it is closed. */
  begun(value: string, byTls: boolean): string
  /** The Set-Cookie header that ends a session. */
  ended(byTls: boolean): string
  /**
   * @returns whether somebody did something: a page may also look by itself
   * @throws RequestFault 403 the call does not come from these pages
   */
  checkOwn(headers: IncomingHttpHeaders): { readonly acts: boolean }
}

/** By the value of the header, whether somebody did something. */
const ACTS: Readonly<Record<string, boolean>> = { '1': true, poll: false }

export function sessionCookies({ cookie, header, title }: SessionPages): SessionCookies {
  // `__Host-`: no other host can set it, and it is sent by TLS alone. Its path is `/`.
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

/** Whether a page of this origin was served under the host and port that the request names. Browsers that have no Sec-Fetch-Site send it too. */
function isOwnOrigin(origin: string, host: string | undefined): boolean {
  const page = URL.parse(origin)
  return page !== null && page.origin === origin && page.host === URL.parse(`${page.protocol}//${host}`)?.host
}

const forbidden = (message: string): RequestFault => new RequestFault('err.request.forbidden', message)

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
