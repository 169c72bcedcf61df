/** Each registry's OpenAPI document and the page that shows it. All that the page loads comes from here. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { CALLBACKS, type Kind, OPERATIONS, openApiDocument } from '@rollcall/protocol'
import type { Registry } from '../model/registry.ts'
import { send, sendJson } from './answer.ts'
import { type HasDirectory, registryOf, VERSION_SEGMENT } from './protocol-routes.ts'
import { type HttpServer, mount } from './server.ts'

const BASE = `/:namespace/${VERSION_SEGMENT}`
/** The viewer's own files; no namespace in their path, they are the same for all. */
const ASSETS = '/assets/reference/'
/** The two that the page loads, and no folder of files: there is nothing to find by another name. */
const VIEWER_FILES = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' }

export function addReferenceRoutes(app: HttpServer, parts: HasDirectory): void {
  const viewer = createRequire(import.meta.url).resolve('@fastify/swagger-ui')
  for (const [name, type] of Object.entries(VIEWER_FILES)) {
    const text = readFileSync(join(dirname(viewer), 'static', name), 'utf8')
    mount(app, 'GET', 'docs', `${ASSETS}${name}`, (_request, reply) =>
      send(reply, 200, text, {
        'Content-Type': `${type}; charset=utf-8`,
        'Cache-Control': 'public, max-age=86400',
      }),
    )
  }
  mount(app, 'GET', 'openapi', `${BASE}/openapi.json`, async (request, reply) => {
    sendJson(reply, 200, documentText(await registryOf(parts, request)))
  })
  mount(app, 'GET', 'docs', `${BASE}/docs`, async (request, reply) => {
    const { kind, namespace } = await registryOf(parts, request)
    send(reply, 200, page(kind, namespace), {
      'Content-Type': 'text/html; charset=utf-8',
      'Content-Security-Policy': CONTENT_SECURITY_POLICY,
    })
  })
  mount(app, 'GET', 'docs', `${BASE}/docs.js`, async (request, reply) => {
    await registryOf(parts, request)
    send(reply, 200, SCRIPT, { 'Content-Type': 'text/javascript; charset=utf-8' })
  })
}

const documents = new WeakMap<Kind, Map<string, string>>()

/** Made once per kind and namespace: neither changes while the process lives. */
function documentText({ kind, namespace }: Registry): string {
  const ofKind = documents.get(kind) ?? new Map<string, string>()
  documents.set(kind, ofKind)
  const known = ofKind.get(namespace)
  if (known !== undefined) return known
  const server_url = `/${namespace}/${VERSION_SEGMENT}`
  const text = JSON.stringify(
    openApiDocument(kind, { server_url, operations: OPERATIONS, callbacks: CALLBACKS }),
  )
  ofKind.set(namespace, text)
  return text
}

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

function page(kind: Kind, namespace: string): string {
  const base = `/${namespace}/${VERSION_SEGMENT}`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(kind.title)}: reference</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${ASSETS}swagger-ui.css">
</head>
<body>
<div id="reference" data-document="${base}/openapi.json"></div>
<noscript>This page needs JavaScript; the document itself is at <a href="${base}/openapi.json">openapi.json</a>.</noscript>
<script src="${ASSETS}swagger-ui-bundle.js"></script>
<script src="${base}/docs.js"></script>
</body>
</html>
`
}

const SCRIPT = `const reference = document.getElementById('reference')
SwaggerUIBundle({
  domNode: reference,
  url: reference.dataset.document,
  validatorUrl: null,
  deepLinking: true,
  defaultModelsExpandDepth: 0,
  docExpansion: 'list',
})
`

const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
