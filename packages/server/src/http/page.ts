/** The frame and the files of the pages on the peers' listener. They load nothing from other servers. */
import { readFileSync } from 'node:fs'
import type { FastifyReply } from 'fastify'
import { sendBody } from './answer.ts'
import { type HttpServer, mountHandler } from './server.ts'

/** The files of the folder `site/` that the pages load. */
const SITE_FILES = {
  'site.css': ['text/css', new URL('./site/site.css', import.meta.url)],
  'landing.js': ['text/javascript', new URL('./site/landing.js', import.meta.url)],
  'programs.js': ['text/javascript', new URL('./site/programs.js', import.meta.url)],
  'reference.js': ['text/javascript', new URL('./site/reference.js', import.meta.url)],
} as const
const SITE_PATH = '/assets/site/'

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

/** HTML as text. Inserted values are escaped, unless they are `Html` themselves. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

type TemplatePart = string | number | Html | readonly Html[]

/** The tag of template literals with HTML, whose inserted values it escapes: `html\`<b>${name}</b>\``. */
export const html = (texts: TemplateStringsArray, ...parts: readonly TemplatePart[]): Html =>
  new Html(texts.reduce((before, text, at) => before + escapePart(parts[at - 1] ?? '') + text))

function escapePart(part: TemplatePart): string {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return String(part).replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** The content of a page, and the files that it loads. */
export interface PageContent {
  readonly title: string
  readonly body: Html
  readonly styles?: readonly string[]
  readonly scripts?: readonly string[]
}

/** Returns the address of a file in `site/` that pages load. */
export const siteFilePath = (name: keyof typeof SITE_FILES): string => `${SITE_PATH}${name}`

export function sendPage(reply: FastifyReply, { title, body, styles = [], scripts = [] }: PageContent): void {
  const { text } = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
${[...styles, siteFilePath('site.css')].map((address) => html`<link rel="stylesheet" href="${address}">\n`)}
</head>
<body>
${body}
${scripts.map((address) => html`<script src="${address}"></script>\n`)}
</body>
</html>
`
  sendBody(reply, 200, text, { 'Content-Type': 'text/html; charset=utf-8', 'Content-Security-Policy': CONTENT_SECURITY_POLICY })
}

/** Reads a file and serves it at this path. A later change of the file is not seen. */
export function mountFile(app: HttpServer, path: string, type: string, file: string | URL): void {
  const content = readFileSync(file)
  mountHandler(app, 'GET', 'docs', path, (_request, reply) =>
    sendBody(reply, 200, content, { 'Content-Type': `${type}; charset=utf-8`, 'Cache-Control': 'public, max-age=86400' }),
  )
}

export function addSiteFiles(app: HttpServer): void {
  for (const [name, [type, file]] of Object.entries(SITE_FILES)) mountFile(app, `${SITE_PATH}${name}`, type, file)
}
