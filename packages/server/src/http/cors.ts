/** Lets web pages read answers in a browser if the operator lists their origin for the registry; none by default. */

import { isOriginInOperatorList } from '@rollcall/core/model/web-origin'
import type { Directory } from '@rollcall/participants/directory/directory'
import { TOKEN_PATH } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { KEY_SET_PATH } from './pages.ts'
import type { HttpServer } from './server.ts'

/** Paths that all registries share. A page whose origin is listed for at least one registry may use them. */
const PATHS_SHARED_BY_REGISTRIES: readonly string[] = [`/${TOKEN_PATH}`, KEY_SET_PATH]

/** Seconds for which a browser remembers the answer to a preflight. */
const PREFLIGHT_MAX_AGE_SECONDS = 600

const PREFLIGHT_HEADERS = {
  'Access-Control-Allow-Methods': 'GET, POST',
  'Access-Control-Allow-Headers': 'Authorization, Content-Type',
  'Access-Control-Max-Age': String(PREFLIGHT_MAX_AGE_SECONDS),
  'Content-Length': '0',
}

/**
 * Answers preflights of listed pages, and lets these pages read answers. They may not read our pages for people, nor answers of
 * the partner API, which uses a cookie.
 */
export function addCors(app: HttpServer, deps: { readonly directory: Pick<Directory, 'registry' | 'registries'> }): void {
  app.addHook('onRequest', async (request, reply) => {
    const { origin } = request.headers
    if (origin === undefined) return
    reply.raw.setHeader('Vary', 'Origin')
    if (!(await isAllowedOrigin(deps, request, origin))) return
    reply.raw.setHeader('Access-Control-Allow-Origin', origin)
    reply.raw.setHeader('Access-Control-Expose-Headers', 'Deprecation, Retry-After, Sunset, WWW-Authenticate')
    if (isPreflight(request)) answerPreflight(reply)
  })
}

async function isAllowedOrigin(
  { directory }: { readonly directory: Pick<Directory, 'registry' | 'registries'> },
  { url, routeOptions }: FastifyRequest,
  origin: string,
): Promise<boolean> {
  // The path ends where it ends for the router: at the first question mark or hash.
  const path = withoutTrailingSlashes(url.split(/[?#]/, 1)[0] ?? '')
  const asked = PATHS_SHARED_BY_REGISTRIES.includes(path)
    ? await directory.registries()
    : isPagePath(path) || isOfPartnerPage(routeOptions.url ?? path)
      ? []
      : [await directory.registry(path.split('/', 2)[1] ?? '')]
  return asked.some((registry) => registry !== undefined && isOriginInOperatorList(registry.web_origins, origin))
}

/** A path without the slashes at its end, which the router ignores. A regular expression is slow on thousands of slashes. */
function withoutTrailingSlashes(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end -= 1
  return path.slice(0, end)
}

/** True when a path is a page that people open, or has too few segments for a call of the protocol. */
const isPagePath = (path: string): boolean => path.split('/').length < 4 || path.endsWith('/docs')

/** True when a request is for the partner API. Its route decides, because a path has several spellings. */
const isOfPartnerPage = (route: string): boolean => route.startsWith('/partner/api/')

const isPreflight = ({ method, headers }: FastifyRequest): boolean =>
  method === 'OPTIONS' && headers['access-control-request-method'] !== undefined

function answerPreflight(reply: FastifyReply): void {
  reply.hijack()
  reply.raw.writeHead(204, PREFLIGHT_HEADERS).end()
}
