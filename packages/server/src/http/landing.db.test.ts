import { afterAll, beforeAll, expect, it } from 'vitest'
import { rawConnection } from '../../../engine/test/raw-http.ts'
import { answerOf, type TestServer, testServer } from '../../test/server.ts'

let server: TestServer

beforeAll(async () => {
  server = await testServer()
  await server.registry('farmer', [], 'north-farmers')
  await server.registry('civil', [])
  await server.registry('civil', [], 'civil-test', 'sandbox')
})
afterAll(() => server.close())

/** Gets a page as a browser does, under a host name of the server. */
async function page(path: string, { host = '127.0.0.1', more = '' } = {}) {
  const raw = await rawConnection(server.running.port)
  raw.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nAccept: text/html,*/*;q=0.8\r\n${more}\r\n`)
  const { status, body } = await raw.response()
  raw.destroy()
  return { status, body }
}

const showcase = {
  participant: { sender_id: 'demo.example', client_id: 'c-1', client_secret: 'secret-1' },
  operatorUrl: 'http://127.0.0.1:8081',
  linkCommand: 'PORT=9090 npx rollcall participant link demo.example',
  commands: 'curl -d client_secret=secret-1 "<&>"',
  samples: new Map([['civil', [{ identifier_type: 'UIN', identifier_value: 'P-<1>' }]]]),
  demoPage: 'http://127.0.0.1:9',
}

it('tells programs which registries are here', async () => {
  const response = await fetch(server.url)
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json'])
  expect(await response.json()).toMatchObject({
    name: 'Rollcall',
    registries: [
      { namespace: 'civil', kind: 'civil', environment: 'live', reference: '/civil/v1.0.0/docs' },
      { namespace: 'civil-test', kind: 'civil', environment: 'sandbox' },
      { namespace: 'north-farmers', kind: 'farmer', openapi: '/north-farmers/v1.0.0/openapi.json' },
    ],
    token: '/oauth2/client/token',
  })
})

it('shows people which registries are here, and nothing of a demo where there is none', async () => {
  const { status, body } = await page('/')
  expect(status).toBe(200)
  expect(body).toContain('<a href="/north-farmers/v1.0.0/docs">Reference</a>')
  expect(body.match(/<h3>[^<]*<\/h3>|Sandbox: its people are synthetic\./g)).toEqual([
    '<h3>civil</h3>',
    '<h3>civil-test</h3>',
    'Sandbox: its people are synthetic.',
    '<h3>north-farmers</h3>',
  ])
  expect(body).not.toMatch(/demo|secret/i)
})

it('leads from a namespace to its reference page', async () => {
  for (const path of ['/civil', '/civil/', '/civil/v1.0.0']) {
    const response = await fetch(`${server.url}${path}`, { redirect: 'manual' })
    expect([response.status, response.headers.get('location')]).toEqual([302, '/civil/v1.0.0/docs'])
  }
  const unknown = await fetch(`${server.url}/nowhere`)
  expect([unknown.status, (await answerOf(unknown)).body.message.error]).toEqual([
    404,
    { code: 'err.request.not_found', message: 'there is no such namespace or path here' },
  ])
})

it('shows the secret of a demo on this machine, and to nobody else', async () => {
  server.running.show(showcase)
  for (const path of ['/', '/civil/v1.0.0/docs']) {
    for (const host of ['127.0.0.1', 'localhost:8080', '[::1]']) expect((await page(path, { host })).body).toContain('secret-1')
    for (const asked of [
      { host: 'evil.example' },
      { host: '127.0.0.1.evil.example' },
      { host: '127.0.0.1', more: 'X-Forwarded-For: 203.0.113.7\r\n' },
      { host: '127.0.0.1', more: 'Forwarded: for=203.0.113.7\r\n' },
      { host: '127.0.0.1', more: 'Via: 1.1 proxy\r\n' },
      { host: '127.0.0.1', more: 'X-Real-IP: 203.0.113.7\r\n' },
      { host: '127.0.0.1', more: 'Sec-Fetch-Site: cross-site\r\n' },
      { host: '127.0.0.1', more: 'Sec-Fetch-Site: same-site\r\n' },
    ]) {
      const { status, body } = await page(path, asked)
      expect(status).toBe(200)
      expect(body).not.toContain('secret-1')
    }
  }
  const { body } = await page('/', { host: 'evil.example' })
  expect(body).toContain('This is a demo')
  expect(body).not.toContain(':8081')
})

it('leads to the partner page where that is on', async () => {
  expect((await page('/')).body).not.toContain('/partner')
  const withPage = await testServer({ ROLLCALL_PARTNER_PAGE: '1' })
  try {
    const of = async (host: string) => (await fetch(withPage.url, { headers: { Accept: 'text/html', 'X-Real-IP': host } })).text()
    expect(await of('203.0.113.7')).toContain('<dd><a href="/partner">/partner</a></dd>')
    withPage.running.show(showcase)
    const body = await (await fetch(withPage.url, { headers: { Accept: 'text/html' } })).text()
    expect(body).toContain('<code>PORT=9090 npx rollcall participant link demo.example</code>')
    expect(await of('203.0.113.7')).not.toContain('participant link')
  } finally {
    await withPage.close()
  }
})

it('leads to the own page of a demo', async () => {
  server.running.show(showcase)
  expect((await page('/')).body).toContain('<a href="http://127.0.0.1:9/">Open the switches of the demo</a>')
})

it('escapes what it shows', async () => {
  server.running.show(showcase)
  const { body } = await page('/')
  expect(body).toContain('UIN P-&#60;1&#62;')
  expect(body).toContain('&#34;&#60;&#38;&#62;&#34;')
  expect(body).not.toContain('P-<1>')
})

it('has examples of its own in the document of a demo, about a record that is there', async () => {
  server.running.show({ ...showcase, samples: new Map([['civil', showcase.samples.get('civil') ?? []]]) })
  const { body: document } = await answerOf(await fetch(`${server.url}/civil/v1.0.0/openapi.json`))
  const { examples } = document.paths['/registry/search'].post.requestBody.content['application/json']
  const [first] = Object.values(examples) as { value: { header: object; message: object } }[]
  expect(first?.value.header).toMatchObject({ sender_id: 'demo.example' })
  expect(first?.value.header).not.toHaveProperty('sender_uri')
  expect(JSON.stringify(first?.value.message)).toContain('"value":"P-<1>"')
  expect(document.paths['/oauth2/client/token'].servers).toEqual([{ url: '/' }])
  expect(JSON.stringify(document)).not.toContain('secret-1')
})
