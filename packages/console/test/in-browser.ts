/** Operators in a browser, for tests of the console: each with a browser context, and so with a session, of its own. */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { addOperator, type OperatorRole } from '@rollcall/admin/operators/operators'
import type { Browser, Locator, Page } from 'playwright-core'
import { acting } from '../../admin/test/acting.ts'
import type { TestServer } from '../../server/test/server.ts'

/** Milliseconds after which a story of many pages is taken for one that hangs. */
export const LONG = 600_000
/** The same, for one thing that a page is to show. */
const SHOWN_WITHIN = 60_000

export interface OperatorPage {
  readonly page: Page
  /** Whatever the browser found wrong; lines of answers that were refused stand in `refused`. */
  readonly complaints: string[]
  readonly refused: string[]
  /** The page of an address behind the `#`, when nothing of it is loading any more. */
  open(hash: string): Promise<void>
  button(name: string): Locator
  dialog(name: string): Locator
}

/** A page that nobody is signed in to. */
export async function strangerPage(browser: Browser, { adminUrl }: Pick<TestServer, 'adminUrl'>): Promise<OperatorPage> {
  const context = await browser.newContext({ reducedMotion: 'reduce', timezoneId: 'UTC', viewport: { width: 1280, height: 900 } })
  context.setDefaultTimeout(SHOWN_WITHIN)
  const page = await context.newPage()
  const [complaints, refused]: [string[], string[]] = [[], []]
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('dialog', (dialog) => {
    complaints.push(`a script has opened a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    // The browser itself writes a line of each answer that is not a good one.
    const isOfAnswer = message.text().startsWith('Failed to load resource')
    ;(isOfAnswer ? refused : complaints).push(message.text())
  })
  page.on('request', (request) => {
    const { protocol, origin } = new URL(request.url())
    if (protocol !== 'data:' && origin !== adminUrl) complaints.push(`asked ${origin}`)
  })
  return {
    page,
    complaints,
    refused,
    async open(hash) {
      await page.goto(`${adminUrl}/#${hash}`)
      // The earlier content is gone when the next picture is drawn.
      await page.evaluate(NEXT_PICTURE)
      await settled(page)
    },
    button: (name) => page.getByRole('button', { name, exact: true }),
    dialog: (name) => page.getByRole('dialog', { name, exact: true }),
  }
}

/** Resolves when the browser has drawn the page anew. */
const NEXT_PICTURE = 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))'

/** Waits until a page has its title and nothing of it is loading any more. */
export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor()
  await page.locator('[aria-busy="true"], [role="status"][aria-label="Loading"]').first().waitFor({ state: 'detached' })
}

/** A new operator, who has signed in with the token. */
export async function operatorPage(
  browser: Browser,
  server: Pick<TestServer, 'adminUrl' | 'context'>,
  name: string,
  roles: readonly OperatorRole[],
): Promise<OperatorPage> {
  const { token } = await addOperator(acting(server.context), { name, roles })
  const found = await strangerPage(browser, server)
  await found.open('/')
  await signIn(found, token)
  await found.page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
  found.refused.splice(0)
  return found
}

export async function signIn({ page, button }: OperatorPage, token: string): Promise<void> {
  await page.getByLabel('Operator token').fill(token)
  await button('Sign in').click()
}

/** Pictures are taken for people who look at them: most of the time of a page goes into drawing its picture. */
const TAKES_PICTURES = process.env.ROLLCALL_PICTURES === '1'
const ARTEFACTS = join(import.meta.dirname, '../../../test-artefacts/console')
const WIDTHS = [360, 768, 1280]

/**
 * Shows a page at three widths, and takes pictures of it with `ROLLCALL_PICTURES=1`.
 * @param whole whether a picture has what is below the screen
 * @returns at which widths the page is too wide
 */
export async function pictures(page: Page, name: string, whole = false): Promise<readonly string[]> {
  const wide: string[] = []
  const before = page.viewportSize()
  await page.emulateMedia({ colorScheme: 'light' })
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 })
    await page.evaluate(NEXT_PICTURE)
    await picture(page, `${name}-${width}`, whole)
    const beyond = Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth'))
    if (beyond > 0) wide.push(`${name}: at ${width} px the page is ${beyond} px too wide`)
  }
  if (TAKES_PICTURES) {
    await page.emulateMedia({ colorScheme: 'dark' })
    await picture(page, `${name}-dark`, whole)
    await page.emulateMedia({ colorScheme: 'light' })
  }
  if (before !== null) await page.setViewportSize(before)
  return wide
}

async function picture(page: Page, name: string, fullPage: boolean): Promise<void> {
  if (!TAKES_PICTURES) return
  mkdirSync(ARTEFACTS, { recursive: true })
  await page.screenshot({ path: join(ARTEFACTS, `${name}.png`), fullPage })
}
