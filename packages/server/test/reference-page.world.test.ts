/** Each registry's reference page in a real browser: it works, and all that it loads comes from us. */
import { KINDS } from '@rollcall/protocol'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openBrowser, type TestBrowser } from '../../admin/test/browser.ts'
import { type TestServer, testServer } from './server.ts'

let server: TestServer
let opened: TestBrowser
/** One page for all visits: the browser reads and compiles its program once, and not for each registry. */
let page: Page
let seen: Seen = { origins: new Set(), complaints: [] }
const unfinished = new Set<Request>()

beforeAll(async () => {
  server = await testServer()
  const person = { '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'P-1' }] }
  for (const { name } of KINDS) await server.registry(name, name === 'civil' ? [person] : [])
  opened = await openBrowser()
  const context = await opened.browser.newContext()
  context.setDefaultTimeout(0)
  listen(context)
  await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
    console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`)
  page = await context.newPage()
})

afterAll(async () => {
  await opened?.close()
  await server.close()
})

interface Seen {
  /** The origins of everything that was asked for. */
  readonly origins: Set<string>
  /** Errors and warnings of the console, failed requests, answers above 399, violations of the page's policy. */
  readonly complaints: string[]
}

/** Opens the page, lets `look` work on it once its operations are shown, and tells what the browser saw meanwhile. */
async function visit(namespace: string, look: () => Promise<void>): Promise<Seen> {
  // Nothing is left of the visit before.
  await page.goto('about:blank')
  seen = { origins: new Set(), complaints: [] }
  unfinished.clear()
  await page.goto(`${server.url}/${namespace}/v1.0.0/docs`)
  await page.locator('.opblock').first().waitFor()
  await look()
  await vi.waitUntil(() => unfinished.size === 0, { timeout: 300_000, interval: 20 })
  return seen
}

function expectNothingElse({ origins, complaints }: Seen): void {
  expect(complaints).toEqual([])
  expect([...origins]).toEqual([server.url])
}

/** Notes in `seen` what the pages of the browser do, and in `unfinished` the requests that are under way. */
function listen(context: BrowserContext): void {
  context.on('requestfinished', (request) => unfinished.delete(request))
  context.on('requestfailed', (request) => unfinished.delete(request))
  context.on('request', (request) => {
    unfinished.add(request)
    const url = new URL(request.url())
    // A `data:` address is not loaded from anywhere.
    if (!['data:', 'about:'].includes(url.protocol)) seen.origins.add(url.origin)
  })
  context.on('requestfailed', (request) => seen.complaints.push(`failed: ${request.url()}`))
  context.on('response', (response) => {
    if (response.status() >= 400) seen.complaints.push(`${response.status()}: ${response.url()}`)
  })
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) seen.complaints.push(message.text())
  })
  context.on('weberror', (error) => seen.complaints.push(error.error().message))
}

describe('the reference page', () => {
  it.each(KINDS.map(({ name, title }) => [name, title]))('of %s shows its search', async (name, title) => {
    const found = await visit(name, async () => {
      expect(await page.title()).toBe(`Rollcall: ${title} (${name})`)
      const shown = await page.locator('.opblock-summary-path').allInnerTexts()
      expect(shown.map((text) => text.replaceAll('\u200b', ''))).toContain('/registry/sync/search')
      if (name === 'civil') await showsExample()
    })
    expectNothingElse(found)
  })

  /** An operation shows its example when it is opened. */
  async function showsExample(): Promise<void> {
    const search = page.locator('.opblock', { hasText: '/registry/sync/search' }).first()
    await search.locator('.opblock-summary-control').first().click()
    const example = search.locator('.opblock-section-request-body .body-param__example').first()
    await example.waitFor()
    expect(await example.textContent()).toMatch(/"search_request"[\s\S]*"idtype-value"[\s\S]*"UIN"/)
  }

  it('makes a search in a demo as often as it is asked to, each time with another message_id, and asks no other host', async () => {
    const peer = await server.participant('demo.example')
    const { client_id, secret: client_secret } = peer
    const sample = { identifier_type: 'UIN', identifier_value: 'P-1' }
    server.running.show({
      participant: { sender_id: 'demo.example', client_id, client_secret },
      operatorUrl: server.adminUrl,
      linkCommand: '',
      commands: 'curl',
      samples: new Map([['civil', [sample]]]),
      demoPage: 'http://127.0.0.1:9',
    })
    const ids: string[] = []
    const shown: string[] = []
    const note = (request: Request): void => {
      if (request.method() === 'POST' && request.url().endsWith('search'))
        ids.push(JSON.parse(request.postData() ?? '').header.message_id)
    }
    const found = await visit('civil', async () => {
      page.on('request', note)
      const search = page.locator('.opblock', { hasText: '/registry/sync/search' }).first()
      await search.locator('.opblock-summary-control').first().click()
      for (const times of [1, 2]) {
        const answered = page.waitForResponse((response) => response.url().endsWith('/registry/sync/search'))
        await search.locator('button.execute').click()
        const { message } = await (await answered).json()
        expect(message.search_response[0].data.reg_records[0].identifier[0].identifier_value).toBe('P-1')
        await vi.waitUntil(() => ids.length === times, { timeout: 300_000, interval: 20 })
      }
      page.off('request', note)
      const snippets = search.locator('.request-snippets')
      for (const title of ['curl', 'TypeScript', 'Python', 'Java']) {
        await snippets.getByRole('heading', { name: title, exact: true }).click()
        shown.push((await snippets.locator('.curl.microlight').textContent()) ?? '')
      }
    })
    expect(new Set(ids).size).toBe(2)
    // The request that was sent last, in each language; `examples/shown-searches.world.test.ts` runs the programs.
    expect(shown).toEqual(
      ['curl -X', "from '@rollcall/client'", 'from rollcall import', 'new Rollcall.Registry('].map((text) =>
        expect.stringContaining(text),
      ),
    )
    for (const text of shown) expect(text).toMatch(/demo\.example.*P-1/s)
    expectNothingElse(found)
    // It is held to its policy: what it asked of another host would be seen. The browser reports it after the request has failed.
    const reported = page.waitForEvent('console', (message) => message.text().startsWith('policy: '))
    await page.evaluate("fetch('https://elsewhere.example/').catch(() => undefined)")
    await reported
    expect(found.complaints.join('\n')).toContain('policy: connect-src https://elsewhere.example/')
  })
})
