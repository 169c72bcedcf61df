/** Serves each registry's OpenAPI document and the page that shows it. The page loads nothing from other servers. */
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import type { Registry } from '@rollcall/core/model/registry'
import { typeScriptProgram } from '@rollcall/participants/programs/curl-and-typescript'
import { javaProgram, pythonProgram } from '@rollcall/participants/programs/python-and-java'
import {
  CALLBACKS,
  DEFAULT_SIGNATURE_PROFILE,
  type Kind,
  OPERATIONS,
  openApiDocument,
  operationsOf,
  TOKEN_PATH,
} from '@rollcall/protocol'
import { sendJson } from './answer.ts'
import { type HasRegistries, registryLinks } from './landing.ts'
import { html, mountFile, type PageContent, sendPage, siteFilePath } from './page.ts'
import { requireRegistryOfPath, VERSION_SEGMENT } from './protocol-routes.ts'
import { type HttpServer, mountHandler } from './server.ts'
import { type DemoContent, type HasDemoContent, isFromThisMachine } from './showcase.ts'

const REGISTRY_BASE_PATH = `/:namespace/${VERSION_SEGMENT}`
/** The path of the viewer's files. It has no namespace, because all registries share these files. */
const VIEWER_PATH = '/assets/reference/'
/** The two files of the viewer. No folder is served, so other names find nothing. */
const VIEWER_FILES = { 'swagger-ui.css': 'text/css', 'swagger-ui-bundle.js': 'text/javascript' }

export function addReferenceRoutes(app: HttpServer, deps: HasRegistries & HasDemoContent): void {
  const viewer = createRequire(import.meta.url).resolve('@fastify/swagger-ui')
  for (const [name, type] of Object.entries(VIEWER_FILES))
    mountFile(app, `${VIEWER_PATH}${name}`, type, join(dirname(viewer), 'static', name))
  mountHandler(app, 'GET', 'openapi', `${REGISTRY_BASE_PATH}/openapi.json`, async (request, reply) => {
    const registry = await requireRegistryOfPath(deps, request)
    sendJson(reply, 200, openApiDocumentText(registry, deps.showcase()))
  })
  mountHandler(app, 'GET', 'docs', `${REGISTRY_BASE_PATH}/docs`, async (request, reply) => {
    const registry = await requireRegistryOfPath(deps, request)
    const shown = isFromThisMachine(deps, request.raw) ? deps.showcase() : null
    sendPage(reply, referencePage(registry, await deps.directory.registries(), shown))
  })
}

/** The OpenAPI documents made so far, by kind, then by the text `<namespace> <identifier>`. Only a demo has the identifier. */
const openApiDocumentsByKind = new WeakMap<Kind, Map<string, string>>()

/** Returns the OpenAPI document of a registry. It is made once for each kind, namespace and identifier in the example. */
function openApiDocumentText(registry: Registry, shown: DemoContent | null): string {
  const { kind, namespace, sender_id: receiver_id } = registry
  const known = openApiDocumentsByKind.get(kind) ?? new Map<string, string>()
  openApiDocumentsByKind.set(kind, known)
  const [recordType] = kind.record_types
  const sample = shown?.samples.get(namespace)?.find(({ identifier_type }) => identifier_type === recordType.primary_identifier)
  const name = `${namespace} ${sample?.identifier_value ?? ''}`
  const made = known.get(name)
  if (made !== undefined) return made
  const document = openApiDocument(kind, {
    server_url: `/${namespace}/${VERSION_SEGMENT}`,
    operations: OPERATIONS,
    callbacks: CALLBACKS,
    title: registryTitle(registry),
    ...(shown !== null &&
      sample !== undefined && {
        example: { sender_id: shown.participant.sender_id, receiver_id, identifier_value: sample.identifier_value },
      }),
  })
  const text = JSON.stringify(document)
  known.set(name, text)
  return text
}

/**
 * Makes JSON with example programs in TypeScript, Python and Java, and the operations by their paths. `site/programs.js` shows a
 * program for each request that a visitor tries, with the sender_id of the request. The page does not know the visitor's
 * participant, so the programs sign with the default profile.
 */
function exampleProgramsJson(registry: Registry): string {
  const { namespace, kind } = registry
  const participant = { sender_id: '%SENDER%', signature_profile: DEFAULT_SIGNATURE_PROFILE }
  const program = { namespace, registry, participant, kid: null }
  const operations = operationsOf(kind).flatMap(({ name, sync_paths, async_paths }) => [
    ...sync_paths.map((path) => [path, { name, later: false }]),
    ...async_paths.map((path) => [path, { name, later: true }]),
  ])
  return JSON.stringify({
    base: `/${namespace}/${VERSION_SEGMENT}/`,
    texts: {
      typescript: typeScriptProgram(program, '%CALL%'),
      python: pythonProgram(program, '%CALL%'),
      java: javaProgram(program, '%CALL%'),
    },
    operations: Object.fromEntries(operations),
  })
}

const registryTitle = ({ kind, namespace }: Registry): string => `Rollcall: ${kind.title} (${namespace})`

/**
 * Makes the reference page of a registry.
 * @param shown the content of the demo, for visitors on this machine, who are allowed to see its secret; null for all others
 */
function referencePage(registry: Registry, registries: readonly Registry[], shown: DemoContent | null): PageContent {
  const { kind, namespace } = registry
  const document = `/${namespace}/${VERSION_SEGMENT}/openapi.json`
  const client =
    shown === null ? html`` : html` data-client="${shown.participant.client_id}" data-secret="${shown.participant.client_secret}"`
  return {
    title: registryTitle(registry),
    styles: [`${VIEWER_PATH}swagger-ui.css`],
    scripts: [`${VIEWER_PATH}swagger-ui-bundle.js`, siteFilePath('programs.js'), siteFilePath('reference.js')],
    body: html`<header class="bar">
<a class="brand" href="/">Rollcall</a>
<h1>${kind.title}</h1>
<nav aria-label="Registries">${registryLinks(registries, namespace)}</nav>
</header>
<div class="options">
<label><input type="checkbox" id="fresh" checked> Send each message with a new message_id and message_ts</label>
${shown === null ? html`<span class="note">Press Authorize to give the credentials of your participant. This page cannot sign: a participant that must sign its messages is answered 401 here. The operator's documents have a signed search for a shell (docs/onboarding.md, 7).</span>` : html`<span class="note">This demo fetches its access token by itself.</span>`}
<span class="note">Below each answer stands the request in curl, TypeScript, Python and Java. The programs take from the environment REGISTRY, the address of this server, CLIENT_ID, CLIENT_SECRET, and SIGNING_KEY, a file with the private key. They sign with the default profile; the partner page shows a search with yours.</span>
</div>
<div id="reference" data-document="${document}" data-token="/${TOKEN_PATH}" data-programs="${exampleProgramsJson(registry)}"${client}></div>
<noscript>This page needs JavaScript; the document itself is at <a href="${document}">openapi.json</a>.</noscript>`,
  }
}
