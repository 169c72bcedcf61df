/** The start page: the registries of this server, and how to begin. Programs get JSON. */

import type { Registry } from '@rollcall/core/model/registry'
import type { Directory } from '@rollcall/participants/directory/directory'
import { PROTOCOL_VERSION, TOKEN_PATH } from '@rollcall/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { sendJson } from './answer.ts'
import { type Html, html, type PageContent, sendPage, siteFilePath } from './page.ts'
import { requireRegistryOfPath, VERSION_SEGMENT } from './protocol-routes.ts'
import { type HttpServer, mountHandler } from './server.ts'
import { type DemoContent, type HasDemoContent, isFromThisMachine } from './showcase.ts'

/** The dependencies of the start page and of the reference pages. */
export interface HasRegistries {
  readonly directory: Pick<Directory, 'registry' | 'registries'>
}

export function addLandingRoutes(
  app: HttpServer,
  deps: HasRegistries & HasDemoContent & { readonly partnerPage: boolean },
): void {
  mountHandler(app, 'GET', 'landing', '/', async (request, reply) => {
    const registries = await deps.directory.registries()
    if (!wantsHtml(request)) return sendJson(reply, 200, JSON.stringify(describeRegistriesAndPaths(registries)))
    const shown = deps.showcase()
    const fromHere = isFromThisMachine(deps, request.raw)
    sendPage(reply, landingPage(registries, shown, { fromHere, partnerPage: deps.partnerPage }))
  })
  for (const path of ['/:namespace', `/:namespace/${VERSION_SEGMENT}`]) {
    mountHandler(app, 'GET', 'docs', path, async (request, reply) => {
      redirectTo(reply, referencePath(await requireRegistryOfPath(deps, request)))
    })
  }
}

/** True when a client wants HTML: browsers name text/html in Accept. Programs that accept anything get JSON. */
const wantsHtml = ({ headers }: FastifyRequest): boolean => /\btext\/html\b/i.test(headers.accept ?? '')

function redirectTo(reply: FastifyReply, address: string): void {
  reply.hijack()
  reply.raw.writeHead(302, { Location: address, 'Cache-Control': 'no-store', 'Content-Length': '0' }).end()
}

const registryBasePath = ({ namespace }: Registry): string => `/${namespace}/${VERSION_SEGMENT}`
/** The path of the reference page of a registry. */
export const referencePath = (registry: Registry): string => `${registryBasePath(registry)}/docs`

/** What programs get as JSON: the registries, and the paths of pages and routes on this server. */
const describeRegistriesAndPaths = (registries: readonly Registry[]) => ({
  name: 'Rollcall',
  protocol_version: PROTOCOL_VERSION,
  registries: registries.map((registry) => ({
    namespace: registry.namespace,
    kind: registry.kind.name,
    environment: registry.environment,
    base_path: registryBasePath(registry),
    openapi: `${registryBasePath(registry)}/openapi.json`,
    reference: referencePath(registry),
  })),
  token: `/${TOKEN_PATH}`,
  key_set: '/.well-known/jwks.json',
  health: '/health',
  ready: '/ready',
})

/**
 * The links to the reference pages of all registries, for the top of a page.
 * @param here the namespace of this page, whose link is marked as current; null: no link is marked
 */
export const registryLinks = (registries: readonly Registry[], here: string | null): Html[] =>
  registries.map((registry) => {
    const { namespace } = registry
    const current = namespace === here ? html` aria-current="page"` : html``
    return html`<a href="${referencePath(registry)}"${current}>${namespace}</a>\n`
  })

function landingPage(
  registries: readonly Registry[],
  shown: DemoContent | null,
  { fromHere, partnerPage }: { readonly fromHere: boolean; readonly partnerPage: boolean },
): PageContent {
  return {
    title: 'Rollcall',
    scripts: [siteFilePath('landing.js')],
    body: html`<header class="bar">
<a class="brand" href="/">Rollcall</a>
<h1>Registry interoperability server</h1>
<nav aria-label="Registries">${registryLinks(registries, null)}</nav>
</header>
<main class="plain">
<p class="lead">Systems of social protection ask registries here about people: is this birth registered, is this person alive, married,
enrolled, employed? They send signed messages, and get answers, callbacks and notifications.${
      shown === null ? '' : ' This is a demo. All its people are synthetic.'
    }</p>
${shown !== null && fromHere ? demoFirstStepsHtml(shown, registries, partnerPage) : html``}
<section aria-labelledby="registries">
<h2 id="registries">Registries</h2>
${
  registries.length === 0
    ? html`<p>No registry is here yet. An operator adds one: <code>rollcall registry add civil</code></p>`
    : html`<ul class="cards">${registries.map((registry) => registryCard(registry, shown))}</ul>`
}
</section>
<section aria-labelledby="addresses">
<h2 id="addresses">Addresses</h2>
<dl class="facts">
<dt>Access token</dt><dd><code>POST /${TOKEN_PATH}</code></dd>
<dt>Public keys</dt><dd><a href="/.well-known/jwks.json">/.well-known/jwks.json</a></dd>
${partnerPage ? html`<dt>For participants</dt><dd><a href="/partner">/partner</a></dd>\n` : html``}<dt>Health</dt><dd><a href="/health">/health</a>, <a href="/ready">/ready</a></dd>
</dl>
</section>
</main>`,
  }
}

/** The section "Begin", shown only to visitors on this machine. */
function demoFirstStepsHtml(
  { operatorUrl, linkCommand, commands, demoPage }: DemoContent,
  [first]: readonly Registry[],
  partnerPage: boolean,
): Html {
  const reference = first === undefined ? '/' : referencePath(first)
  return html`<section aria-labelledby="begin">
<h2 id="begin">Begin</h2>
<ul class="cards">
<li class="card"><h3>Search with the mouse</h3>
<p>The reference page has an example that works. Press Execute.</p>
<p class="links"><a href="${reference}#/Search/sync-search">Open the search</a></p></li>
<li class="card"><h3>Look as the operator</h3>
<p>The console shows who asked what, what was delivered and what failed. Sign in with the link that the demo printed in its terminal.</p>
<p class="links"><a href="${operatorUrl}/">Open the console</a></p></li>
<li class="card"><h3>Let it live, break it and mend it</h3>
<p>The demo's own page starts and stops what the demo runs beside the server. The console shows what that does.</p>
<p class="links"><a href="${demoPage}/">Open the switches of the demo</a></p></li>
${
  partnerPage
    ? html`<li class="card"><h3>Look as a participant</h3>
<p>The partner page shows a participant its own keys, deliveries and grants. <code>${linkCommand}</code> prints a link that signs you in.</p>
<p class="links"><a href="/partner">Open the partner page</a></p></li>
`
    : html``
}</ul>
</section>
<section aria-labelledby="shell">
<h2 id="shell">The first search in a shell</h2>
<pre id="commands" tabindex="0">${commands}</pre>
<p><button type="button" data-copies="commands">Copy</button></p>
</section>`
}

function registryCard(registry: Registry, shown: DemoContent | null): Html {
  const { namespace, kind, environment } = registry
  const [sample] = shown?.samples.get(namespace) ?? []
  return html`<li class="card">
<h3>${namespace}</h3>
<p>${kind.title}. ${kind.description}</p>
${environment === 'sandbox' ? html`<p><strong>Sandbox: its people are synthetic.</strong></p>` : html``}
${
  sample === undefined
    ? html``
    : html`<p>Somebody to ask about: <code>${sample.identifier_type} ${sample.identifier_value}</code></p>`
}
<p class="links"><a href="${referencePath(registry)}">Reference</a> <a href="${registryBasePath(registry)}/openapi.json">OpenAPI</a></p>
</li>`
}
