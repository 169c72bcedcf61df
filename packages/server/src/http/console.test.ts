import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { NONCE_PLACEHOLDER } from '@rollcall/console'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { rawConnection } from '../../../engine/test/raw-http.ts'
import { bareListener } from '../../test/bare-listener.ts'
import { addConsole, addPartnerPage } from './console.ts'
import type { HttpServer } from './server.ts'

const PAGE = `<!doctype html><meta property="csp-nonce" nonce="${NONCE_PLACEHOLDER}"><title>Console</title>`
const SCRIPT = `console.log(${JSON.stringify('x'.repeat(2_000))})`

let folder: string
let app: HttpServer
/** The same without a build. */
let bare: HttpServer

const isOwnHost = (header: string | undefined): boolean => /^(localhost|127\.0\.0\.1)(:\d+)?$/.test(header ?? '')

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-console-'))
  await mkdir(join(folder, 'dist/assets/inner'), { recursive: true })
  const files = {
    'dist/index.html': PAGE,
    'dist/secret.txt': 'a secret',
    'dist/partner.html': PAGE,
    'dist/assets/index-a1.js': SCRIPT,
    'dist/assets/index-a1.css': 'body{}',
    'dist/assets/font-a1.woff2': 'wOF2',
    'dist/assets/index-a1.js.map': '{}',
    'dist/assets/a:b.js': 'a',
    'dist/assets/inner/index.js': 'a',
    'secret.js': 'a secret',
  }
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  app = bareListener()
  addConsole(app, { folder: pathToFileURL(`${folder}/dist/`), isOwnHost })
  await app.listen({ host: '127.0.0.1', port: 0 })
  bare = bareListener()
  addConsole(bare, { folder: pathToFileURL(`${folder}/none/`), isOwnHost })
})
afterAll(async () => {
  await Promise.all([app.close(), bare.close()])
  await rm(folder, { recursive: true })
})

const errorOf = (answer: { json(): { errors: readonly [{ code: string; message: string }] } }): string => {
  const [{ code, message }] = answer.json().errors
  return `${code} ${message}`
}

const policyOf = (nonce: string | undefined): string =>
  `default-src 'none'; script-src 'self'; style-src 'self' 'nonce-${nonce}'; connect-src 'self'; ` +
  "img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

describe('the page', () => {
  it('is there for everybody, with a fresh nonce each time, and is not stored', async () => {
    const [first, second] = [await app.inject('/'), await app.inject('/')]
    const nonce = /nonce="([\w-]{22})"/.exec(first.body)?.[1]
    expect(nonce).toBeDefined()
    expect(second.body).not.toContain(nonce)
    expect(first.body).not.toContain(NONCE_PLACEHOLDER)
    expect([first.statusCode, first.headers]).toMatchObject([
      200,
      {
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'permissions-policy': expect.stringContaining('camera=()'),
      },
    ])
    expect(first.headers['content-security-policy']).toBe(policyOf(nonce))
  })

  it('says what to do where it is not built', async () => {
    const { statusCode, body } = await bare.inject('/')
    expect(statusCode).toBe(200)
    expect(body).toContain('The page is not built')
    expect(body).toContain('Run <code>npm ci</code> without <code>--omit=dev</code>')
  })

  it('of participants has the same headers, and its files below its own path, under any name', async () => {
    const peers = bareListener()
    addPartnerPage(peers, pathToFileURL(`${folder}/dist/`))
    const headers = { host: 'registry.example' }
    const answer = await peers.inject({ url: '/partner', headers })
    const nonce = /nonce="([\w-]{22})"/.exec(answer.body)?.[1]
    expect([answer.statusCode, answer.headers['content-security-policy']]).toEqual([200, policyOf(nonce)])
    expect((await peers.inject({ url: '/partner/assets/index-a1.js', headers })).statusCode).toBe(200)
    expect((await peers.inject({ url: '/assets/index-a1.js', headers })).statusCode).toBe(404)
    expect((await peers.inject({ url: '/partner/assets/index-a1.js.map', headers })).statusCode).toBe(404)
    await peers.close()
  })

  it('is under a name of this listener alone', async () => {
    for (const url of ['/', '/assets/index-a1.js']) {
      const answer = await app.inject({ url, headers: { host: 'evil.example' } })
      expect([answer.statusCode, errorOf(answer)]).toEqual([
        421,
        'err.request.bad Host: is not the address of this listener, nor one of ROLLCALL_ADMIN_HOSTS',
      ])
    }
  })

  it('is read and not written', async () => {
    for (const url of ['/', '/assets/index-a1.js']) {
      for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'PROPFIND']) {
        const answer = await fetch(new URL(url, app.listeningOrigin), { method })
        const [{ code, message }] = ((await answer.json()) as { errors: [{ code: string; message: string }] }).errors
        const allow = answer.headers.get('allow')
        expect([answer.status, allow, code, message]).toEqual([
          405,
          'GET, HEAD',
          'err.request.bad',
          'the method must be GET or HEAD',
        ])
      }
    }
    const head = await app.inject({ method: 'HEAD', url: '/' })
    expect([head.statusCode, head.body]).toEqual([200, ''])
  })
})

describe('the files that it loads', () => {
  it.each([
    ['index-a1.js', 'text/javascript; charset=utf-8'],
    ['index-a1.css', 'text/css; charset=utf-8'],
    ['font-a1.woff2', 'font/woff2'],
  ])('%s is %s, for ever', async (name, type) => {
    const { statusCode, headers } = await app.inject(`/assets/${name}`)
    expect([statusCode, headers]).toMatchObject([
      200,
      {
        'content-type': type,
        'cache-control': 'public, max-age=31536000, immutable',
        'x-content-type-options': 'nosniff',
        'cross-origin-resource-policy': 'same-origin',
      },
    ])
  })

  it.each([
    ['br, gzip', 'br', brotliDecompressSync],
    ['gzip;q=0.5', 'gzip', gunzipSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['identity', undefined, (content: Buffer) => content],
    ['br;q=0', undefined, (content: Buffer) => content],
  ])('are compressed for a browser that accepts %s', async (accepted, encoding, opened) => {
    const url = '/assets/index-a1.js'
    const answer = await app.inject({ url, headers: { 'accept-encoding': accepted } })
    expect([answer.headers['content-encoding'], answer.headers.vary]).toEqual([encoding, 'Accept-Encoding'])
    expect(opened(answer.rawPayload).toString()).toBe(SCRIPT)
    if (encoding !== undefined) expect(answer.rawPayload.length).toBeLessThan(SCRIPT.length / 2)
    const again = await app.inject({
      url,
      headers: { 'accept-encoding': accepted, 'if-none-match': `W/"x", ${answer.headers.etag}` },
    })
    expect([again.statusCode, again.body, again.headers.etag]).toEqual([304, '', answer.headers.etag])
  })

  it.each([
    '/secret.txt',
    '/secret.js',
    '/index.html',
    '/assets',
    '/assets/',
    '/assets/index-a1.js.map',
    '/assets/a:b.js',
    '/assets/inner/index.js',
    '/assets/../secret.js',
    '/assets/../../secret.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets/%2e%2e/%2e%2e/secret.js',
    '/assets/%252e%252e%252fsecret.js',
    '/assets/..%5c..%5csecret.js',
    '/assets/..\\..\\secret.js',
    '/assets/....//secret.js',
    '/assets//index-a1.js',
    '/assets/index-a1.js%00.css',
    '/assets/INDEX-A1.js',
    '//etc/passwd',
    '/%2fetc%2fpasswd',
  ])('are no other file: %s', async (path) => {
    // By hand: a client would rewrite such paths.
    const raw = await rawConnection((app.server.address() as AddressInfo).port)
    raw.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
    const { status, body } = await raw.response()
    raw.destroy()
    const [{ code, message }] = JSON.parse(body).errors
    expect([status, code, message]).toEqual([404, 'err.request.not_found', 'there is no such namespace or path here'])
  })
})
