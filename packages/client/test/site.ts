/** A web site on loopback: a page that loads the built client as an ES module. It passes other paths on to a server. */
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { join, relative, resolve } from 'node:path'
import { builtClient } from './built.ts'

const root = resolve(import.meta.dirname, '../../..')
const modules = join(root, 'node_modules')
const requireHere = createRequire(join(root, 'package.json'))

export interface Site {
  readonly origin: string
  close(): Promise<void>
}

/** @param client whose `node_modules` has the client; one that is built for it by default */
export async function site(passOnTo: string, client = builtClient()): Promise<Site> {
  const { place, remove } = client
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy())
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '/' } = request
    if (url === '/') response.writeHead(200, { 'content-type': 'text/html' }).end(PAGE)
    else if (url === '/moved') response.writeHead(307, { location: '/elsewhere' }).end()
    else if (url.startsWith('/node_modules/')) await script(join(place, url), response)
    else await passOn(request, response, passOnTo + url)
  }

  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      remove()
    },
  }
}

/** Names that modules import from packages in the page's own map. */
const NAMES = [
  ...['jose', 'typebox', 'typebox/format', 'typebox/guard', 'typebox/schema'],
  ...['typebox/system', '@noble/hashes/blake2.js', '@noble/hashes/legacy.js'],
]
const imports = {
  '@rollcall/client': '/node_modules/@rollcall/client/lib/index.js',
  '@rollcall/protocol': '/node_modules/@rollcall/protocol/lib/index.js',
  ...Object.fromEntries(NAMES.map((name) => [name, `/node_modules/${relative(modules, requireHere.resolve(name))}`])),
}

const PAGE = `<!doctype html>
<title>a page of a programme</title>
<link rel="icon" href="data:,">
<script type="importmap">${JSON.stringify({ imports })}</script>
<script type="module">
  import * as client from '@rollcall/client'
  globalThis.client = client
</script>
`

async function script(path: string, response: ServerResponse): Promise<void> {
  const text = await readFile(path, 'utf8')
  response.writeHead(200, { 'content-type': 'text/javascript' }).end(text)
}

async function passOn(request: IncomingMessage, response: ServerResponse, url: string): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const headers: Record<string, string> = {}
  for (const name of ['authorization', 'content-type', 'accept'] as const) {
    const value = request.headers[name]
    if (value !== undefined) headers[name] = value
  }
  const { method = 'GET' } = request
  const answered = await fetch(url, { method, headers, ...(method === 'POST' && { body: Buffer.concat(chunks) }) })
  const type = answered.headers.get('content-type') ?? 'text/plain'
  response.writeHead(answered.status, { 'content-type': type }).end(await answered.text())
}
