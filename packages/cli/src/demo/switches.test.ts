import { request } from 'node:http'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { DemoReceiver } from './receiver.ts'
import { startDemoPage } from './switches.ts'

const participant = { sender_id: '<i>.example' } as Parameters<typeof startDemoPage>[0]['demo']['participant']
const demo = { admin: { base_url: 'http://127.0.0.1:8081', token: 't' }, participant }
let state: ReturnType<DemoReceiver['state']>
let running: boolean
const receiver: DemoReceiver = {
  state: () => state,
  answer: (answers) => void Object.assign(state, { answers }),
  handle: async (asked) => new Response(`taken at ${new URL(asked.url).pathname}`),
}
const simulation = {
  isRunning: () => running,
  run(wanted: boolean) {
    running = wanted
  },
}
let page: Awaited<ReturnType<typeof startDemoPage>>

beforeAll(async () => {
  page = await startDemoPage({ demo, receiver, simulation }, 0)
})
afterAll(() => page.close())
beforeEach(() => {
  state = { answers: true, taken: 4, not_taken: 2, last_message_id: '"<b>' }
  running = false
})

/** As a program or a browser asks: `fetch` would not let a test name these headers. */
async function ask(method: string, path: string, headers: Readonly<Record<string, string>> = {}) {
  const asked = request(`${page.url}${path}`, { method, headers, agent: false }).end()
  const answer = await new Promise<import('node:http').IncomingMessage>((resolve, reject) => {
    asked.once('response', resolve).once('error', reject)
  })
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) }
}

it('breaks and mends the receiver, and starts and stops the simulation', async () => {
  const acts = ['/receiver/break', '/simulation/start', '/receiver/mend', '/simulation/stop']
  const seen: unknown[] = []
  for (const path of acts) {
    const { status, headers } = await ask('POST', path, { Origin: page.url, 'Sec-Fetch-Site': 'same-origin' })
    seen.push([status, headers.location, state.answers, running])
  }
  expect(seen).toEqual([
    [303, '/', false, false],
    [303, '/', false, true],
    [303, '/', true, true],
    [303, '/', true, false],
  ])
})

it.each([
  ['a name that leads here (DNS rebinding)', 'GET', { Host: 'evil.example' }, 'Host: must name this machine'],
  ['that name in a form', 'POST', { Host: 'evil.example' }, 'Host: must name this machine'],
  ['a form of another site', 'POST', { 'Sec-Fetch-Site': 'cross-site' }, 'Sec-Fetch-Site: must be same-origin'],
  ['a form of another port', 'POST', { 'Sec-Fetch-Site': 'same-site' }, 'Sec-Fetch-Site: must be same-origin'],
  ['a form of an older browser', 'POST', { Origin: 'http://127.0.0.1:1' }, 'Origin: must be this page'],
  ['a form of a page without an origin', 'POST', { Origin: 'null' }, 'Origin: must be this page'],
])('refuses %s', async (_, method, headers: Readonly<Record<string, string>>, message) => {
  const path = method === 'GET' ? '/' : '/receiver/break'
  const { status, body } = await ask(method, path, headers)
  expect([status, body, state.answers]).toEqual([403, `${message}\n`, true])
})

it('shows people a page that no other page frames or reads, and programs JSON', async () => {
  const { headers, body } = await ask('GET', '/', { Accept: 'text/html,*/*;q=0.8', Origin: 'http://127.0.0.1:8081' })
  expect(headers['content-security-policy']).toContain("default-src 'none'")
  expect(headers['content-security-policy']).toContain("frame-ancestors 'none'")
  expect(headers).not.toHaveProperty('access-control-allow-origin')
  expect(body).toContain('<code>&#60;i&#62;.example</code>')
  expect(body).toContain('<dd>&#34;&#60;b&#62;</dd>')
  expect(body).toContain('<a href="http://127.0.0.1:8081/#/deliveries">')
  expect(JSON.parse((await ask('GET', '/')).body)).toEqual({
    receiver: { sender_id: '<i>.example', url: `${page.url}/demo-receiver`, ...state },
    simulation: { running: false },
  })
})

it('hands callbacks to the receiver, and knows nothing else', async () => {
  expect(await ask('POST', '/demo-receiver/on-search')).toMatchObject({ status: 200, body: 'taken at /demo-receiver/on-search' })
  for (const [method, path] of [
    ['GET', '/receiver/break'],
    ['POST', '/'],
    ['POST', '/constructor'],
  ] as const)
    expect([path, (await ask(method, path)).status]).toEqual([path, 404])
})

it('takes another port where its own is taken, and shows no receiver where none runs', async () => {
  const other = await startDemoPage({ demo, receiver: null, simulation }, Number(new URL(page.url).port))
  try {
    expect(other.url).not.toBe(page.url)
    expect(await (await fetch(other.url)).json()).toEqual({ receiver: null, simulation: { running: false } })
    const body = await (await fetch(other.url, { headers: { Accept: 'text/html' } })).text()
    expect(body).not.toContain('Receiver of callbacks')
    expect((await fetch(`${other.url}/demo-receiver`, { method: 'POST' })).status).toBe(404)
  } finally {
    await other.close()
  }
})
