/**
 * Serves built pages: the console on the operator's listener, the partner page on the peers' listener. The files are
 * read at the start, and a request finds them by name. So no path of a request becomes a path of the file system.
 */
import { createHash, randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { extname } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { NONCE_PLACEHOLDER } from '@rollcall/console'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type AnswerHeaders, notFoundFault, sendBody } from './answer.ts'
import { checkOperatorHost, type IsOperatorListenerHost } from './operator-host.ts'
import { html } from './page.ts'
import { type HttpServer, mountHandler } from './server.ts'

/** The types of the files that are served, by the end of their names. Other files are not served. */
const ASSET_TYPES: Readonly<Record<string, { readonly type: string; readonly compressible: boolean }>> = {
  '.css': { type: 'text/css; charset=utf-8', compressible: true },
  '.js': { type: 'text/javascript; charset=utf-8', compressible: true },
  '.svg': { type: 'image/svg+xml', compressible: true },
  '.png': { type: 'image/png', compressible: false },
  '.woff2': { type: 'font/woff2', compressible: false },
}

/**
 * With these headers, other origins cannot load our pages as resources of theirs or reach their windows, our pages send no
 * Referer, and they get no camera, location and so on.
 */
const PAGE_HEADERS: AnswerHeaders = {
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Permissions-Policy':
    'camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), publickey-credentials-get=(), usb=()',
}

/** Makes the Content-Security-Policy: what a page may load. @param nonce a style element without it is ignored */
const contentSecurityPolicy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "connect-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ')

/** Adds the console to the operator's listener. @param folder has `index.html` and `assets/`; ends with a slash */
export function addConsole(
  app: HttpServer,
  { folder, isOwnHost }: { readonly folder: URL; readonly isOwnHost: IsOperatorListenerHost },
): void {
  const check = (request: IncomingMessage): void => checkOperatorHost(isOwnHost, request)
  addBuiltPage(app, { name: 'console', path: '/', file: new URL('index.html', folder), check })
}

/** Adds the partner page to the peers' listener. @param folder has `partner.html` and `assets/`; ends with a slash */
export function addPartnerPage(app: HttpServer, folder: URL): void {
  const file = new URL('partner.html', folder)
  addBuiltPage(app, { name: 'partnerPage', path: '/partner', file, check: () => undefined })
}

interface BuiltPage {
  /** The name of the page in logs and metrics. */
  readonly name: string
  /**
   * The path of the page. The files of the page are served below this path in `assets/`; on disk they are in `assets/` beside
   * `file`.
   */
  readonly path: string
  readonly file: URL
  /** Refuses a request that may not see the page. @throws RequestFault */
  readonly check: (request: IncomingMessage) => void
}

function addBuiltPage(app: HttpServer, { name, path, file, check }: BuiltPage): void {
  const page = findFileText(file) ?? NOT_BUILT_PAGE
  mountHandler(app, 'GET', name, path, ({ raw }, reply) => {
    check(raw)
    sendPageWithSecurityHeaders(reply, 200, page)
  })
  const assets = new Map(listAssetNames(file).map((asset) => [asset, readAsset(new URL(`assets/${asset}`, file))]))
  // One route serves all assets, because the router compiles every route when a server starts.
  mountHandler(app, 'GET', name, `${path === '/' ? '' : path}/assets/:asset`, (request, reply) => {
    const asset = assets.get((request.params as { readonly asset: string }).asset)
    if (asset === undefined) throw notFoundFault()
    check(request.raw)
    return sendAsset(asset, request, reply)
  })
}

/** Sends a page that may load only our files. @param page HTML, with the placeholder of the nonce if it needs one */
export function sendPageWithSecurityHeaders(
  reply: FastifyReply,
  status: number,
  page: string,
  headers: AnswerHeaders = {},
): void {
  const nonce = randomBytes(16).toString('base64url')
  sendBody(reply, status, page.replaceAll(NONCE_PLACEHOLDER, nonce), {
    ...PAGE_HEADERS,
    'Content-Type': 'text/html; charset=utf-8',
    'Content-Security-Policy': contentSecurityPolicy(nonce),
    ...headers,
  })
}

/** A page with a few paragraphs that loads nothing. */
export const plainPage = (title: string, ...paragraphs: readonly ReturnType<typeof html>[]): string =>
  html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<main>
<h1>${title}</h1>
${paragraphs.map((paragraph) => html`<p>${paragraph}</p>\n`)}
</main>
</body>
</html>
`.text

const NOT_BUILT_PAGE = plainPage(
  'The page is not built',
  html`This server runs from its source, and its pages are not built yet.`,
  html`Run <code>npm ci</code> without <code>--omit=dev</code> in the folder of the source. Then start the server again.`,
  html`The APIs and the command line work without the pages.`,
)

function findFileText(file: URL): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    if (isMissingFileError(error)) return null
    throw error
  }
}

/** The names of the files in `assets/` beside a page that are served. */
function listAssetNames(page: URL): readonly string[] {
  try {
    return readdirSync(new URL('assets/', page), { withFileTypes: true })
      .filter((entry) => entry.isFile() && /^[\w.-]+$/.test(entry.name) && extname(entry.name) in ASSET_TYPES)
      .map(({ name }) => name)
  } catch (error) {
    if (isMissingFileError(error)) return []
    throw error
  }
}

const isMissingFileError = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'

const ENCODERS = {
  br: (content: Buffer) => promisify(brotliCompress)(content, { params: { [zlib.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (content: Buffer) => promisify(gzip)(content, { level: 9 }),
  identity: async (content: Buffer) => content,
} as const
type ContentEncoding = keyof typeof ENCODERS

interface Asset {
  readonly type: string
  readonly digest: string
  readonly encodings: readonly ContentEncoding[]
  /** Returns the encoded content. It is compressed at the first request, so that the start does not wait for it. */
  readonly content: (encoding: ContentEncoding) => Promise<Buffer>
}

function readAsset(file: URL): Asset {
  const content = readFileSync(file)
  const { type, compressible } = ASSET_TYPES[extname(file.pathname)] ?? UNKNOWN_ASSET_TYPE
  const made = new Map<ContentEncoding, Promise<Buffer>>()
  return {
    type,
    digest: createHash('sha256').update(content).digest('base64url').slice(0, 22),
    encodings: compressible ? ['br', 'gzip', 'identity'] : ['identity'],
    content(encoding) {
      const known = made.get(encoding) ?? ENCODERS[encoding](content)
      made.set(encoding, known)
      return known
    },
  }
}

const UNKNOWN_ASSET_TYPE = { type: 'application/octet-stream', compressible: false }

/** The Cache-Control of assets. The name of an asset has a digest of its content, so the content never changes. */
const FOREVER_CACHE_CONTROL = 'public, max-age=31536000, immutable'

async function sendAsset(asset: Asset, { headers }: FastifyRequest, reply: FastifyReply): Promise<void> {
  const accepted = acceptedEncodings(headers['accept-encoding'])
  const encoding = asset.encodings.find((one) => one === 'identity' || accepted.has(one)) ?? 'identity'
  const etag = `"${asset.digest}-${encoding}"`
  const about = {
    ...PAGE_HEADERS,
    'Content-Type': asset.type,
    'Cache-Control': FOREVER_CACHE_CONTROL,
    ETag: etag,
    ...(asset.encodings.length > 1 && { Vary: 'Accept-Encoding' }),
  }
  if (hasMatchingETag(headers['if-none-match'], etag)) {
    reply.hijack()
    reply.raw.writeHead(304, about).end()
    return
  }
  const content = await asset.content(encoding)
  sendBody(reply, 200, content, { ...about, ...(encoding !== 'identity' && { 'Content-Encoding': encoding }) })
}

/** The encodings that a browser accepts, without those of quality 0. */
function acceptedEncodings(header: string | string[] | undefined): ReadonlySet<string> {
  const names = String(header ?? '')
    .toLowerCase()
    .split(',')
    .map((part) => part.replaceAll(/\s/g, ''))
    .filter((part) => !/;q=0(?:\.0*)?$/.test(part))
  return new Set(names.map((part) => part.split(';')[0] ?? ''))
}

const hasMatchingETag = (header: string | undefined, etag: string): boolean =>
  (header ?? '')
    .split(',')
    .map((one) => one.trim().replace(/^W\//, ''))
    .some((one) => one === etag || one === '*')
