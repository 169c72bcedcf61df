/** Origins of web pages in an operator's list: `https://app.example`, or `http://localhost:*` for any port of this machine. */

const LISTED_ORIGIN_PATTERN = /^(https?):\/\/([a-z0-9.-]{1,253}|\[[0-9a-f:.]{2,45}\])(?::(\d{1,5}|\*))?$/
const LOOPBACK_HOST_PATTERN = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** Describes the fault of an origin that an operator gave; null when it is valid. */
export function webOriginProblem(origin: string): string | null {
  const match = LISTED_ORIGIN_PATTERN.exec(origin)
  if (match === null) {
    return 'must be an origin in lower case such as https://app.example, without a path; only the port may be *'
  }
  const [, scheme, host = '', port] = match
  const isHere = LOOPBACK_HOST_PATTERN.test(host)
  if (scheme === 'http' && !isHere) return 'must begin with https: plain http is for this machine alone'
  if (port === '*' && !isHere) return 'may have any port only on this machine, such as http://localhost:*'
  return port === '*' || URL.parse(origin)?.origin === origin
    ? null
    : 'must be written as browsers do: without the default port, and with a port of at most 65535'
}

/** True when the origin of a request is listed. */
export function isOriginInOperatorList(listed: readonly string[], origin: string): boolean {
  return listed.some((one) => {
    if (!one.endsWith(':*')) return one === origin
    const host = one.slice(0, -2)
    return origin === host || (origin.startsWith(`${host}:`) && /^\d{1,5}$/.test(origin.slice(host.length + 1)))
  })
}
