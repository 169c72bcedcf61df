/** Each registry's reference page in a real browser: it works, and all that it loads comes from us. */
import { KINDS } from '@rollcall/protocol'
import type { BrowserContext, Page, Request } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { openBrowser, type TestBrowser } from '../../admin/test/browser.ts'
import { type TestServer, testServer } from './server.ts'

// A browser takes its time on a busy machine. What it waits for is bound by the time of a test alone.
vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

let server: TestServer
let opened: TestBrowser

beforeAll(async () => {
  server = await testServer()
  const person = { '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'P-1' }] }
  for (const { name } of KINDS) await server.registry(name, name === 'civil' ? [person] : [])
  opened = await openBrowser()
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
async function visit(namespace: string, look: (page: Page) => Promise<void>): Promise<Seen> {
  const context = await opened.browser.newContext()
  try {
    context.setDefaultTimeout(0)
    const seen: Seen = { origins: new Set(), complaints: [] }
    const unfinished = listen(context, seen)
    // Another host is never reached, and is seen all the same.
    await context.route('**/*', (route) =>
      new URL(route.request().url()).origin === server.url ? route.continue() : route.abort(),
    )
    await context.addInitScript(`addEventListener('securitypolicyviolation', (event) =>
      console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))`)
    const page = await context.newPage()
    await page.goto(`${server.url}/${namespace}/v1.0.0/docs`)
    await page.locator('.opblock').first().waitFor()
    await look(page)
    await vi.waitUntil(() => unfinished.size === 0, { timeout: 300_000, interval: 20 })
    return seen
  } finally {
    await context.close()
  }
}

function expectNothingElse({ origins, complaints }: Seen): void {
  expect(complaints).toEqual([])
  expect([...origins]).toEqual([server.url])
}

/** @returns the requests that are under way */
function listen(context: BrowserContext, { origins, complaints }: Seen): ReadonlySet<Request> {
  const unfinished = new Set<Request>()
  context.on('requestfinished', (request) => unfinished.delete(request))
  context.on('requestfailed', (request) => unfinished.delete(request))
  context.on('request', (request) => {
    unfinished.add(request)
    const url = new URL(request.url())
    // What stands in the address itself is loaded from nowhere.
    if (url.protocol !== 'data:') origins.add(url.origin)
  })
  context.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`))
  context.on('response', (response) => {
    if (response.status() >= 400) complaints.push(`${response.status()}: ${response.url()}`)
  })
  context.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  context.on('weberror', (error) => complaints.push(error.error().message))
  return unfinished
}

describe('the reference page', () => {
  it.each(KINDS.map(({ name, title }) => [name, title]))('of %s shows its search', async (name, title) => {
    const seen = await visit(name, async (page) => {
      expect(await page.title()).toBe(`Rollcall: ${title} (${name})`)
      const shown = await page.locator('.opblock-summary-path').allInnerTexts()
      expect(shown.map((text) => text.replaceAll('\u200b', ''))).toContain('/registry/sync/search')
    })
    expectNothingElse(seen)
  })

  it('shows the example of an operation when it is opened', async () => {
    const seen = await visit('civil', async (page) => {
      const search = page.locator('.opblock', { hasText: '/registry/sync/search' }).first()
      await search.locator('.opblock-summary-control').first().click()
      const example = search.locator('.opblock-section-request-body .body-param__example').first()
      await example.waitFor()
      expect(await example.textContent()).toMatch(/"search_request"[\s\S]*"idtype-value"[\s\S]*"UIN"/)
    })
    expectNothingElse(seen)
  })

  it('makes a search in a demo as often as it is asked to, each time with another message_id', async () => {
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
    const seen = await visit('civil', async (page) => {
      page.on('request', (request) => {
        if (request.method() === 'POST' && request.url().endsWith('search'))
          ids.push(JSON.parse(request.postData() ?? '').header.message_id)
      })
      const search = page.locator('.opblock', { hasText: '/registry/sync/search' }).first()
      await search.locator('.opblock-summary-control').first().click()
      for (const times of [1, 2]) {
        const answered = page.waitForResponse((response) => response.url().endsWith('/registry/sync/search'))
        await search.locator('button.execute').click()
        const { message } = await (await answered).json()
        expect(message.search_response[0].data.reg_records[0].identifier[0].identifier_value).toBe('P-1')
        await vi.waitUntil(() => ids.length === times, { timeout: 300_000, interval: 20 })
      }
    })
    expect(new Set(ids).size).toBe(2)
    expectNothingElse(seen)
  })

  it('is held to its policy: a page that asked another host would be seen here', async () => {
    const { complaints } = await visit('civil', async (page) => {
      // The browser reports it to the page, and the page to the console, after the request has failed.
      const reported = page.waitForEvent('console', (message) => message.text().startsWith('policy: '))
      await page.evaluate("fetch('https://elsewhere.example/').catch(() => undefined)")
      await reported
    })
    expect(complaints.join('\n')).toContain('policy: connect-src https://elsewhere.example/')
  })
})
