/**
 * Every page of the console in a real browser, on a real server with a real database: no page breaks a rule of
 * accessibility, writes an error, asks another host, or does what the content security policy forbids.
 */
import { randomUUID } from 'node:crypto'
import { addOperator } from '@rollcall/admin/operators/operators'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import { storedEntries } from '../../settings/test/audit-log.ts'
import { type BrowsedServer, browsedServer } from './browsed-server.ts'
import { violationsOf } from './faults.ts'
import { LONG, type OperatorPage, operatorPage, pictures, settled, strangerPage } from './in-browser.ts'

let browsed: BrowsedServer
let server: TestServer
let opened: BrowsedServer['opened']
let page: Page
let open: OperatorPage['open']
let token: string
let message_id: string
/** Whatever the browser found wrong. */
let complaints: string[]

/** Pages whose rare states are below the screen. */
const RARE = new Set(['registries-one', 'participants-one'])

/** A provider of OpenID Connect that nobody signs in at: the sign-in page offers it. */
const OPENID = {
  ROLLCALL_OIDC_ISSUER: 'http://127.0.0.1:9',
  ROLLCALL_OIDC_CLIENT_ID: 'console',
  ROLLCALL_OIDC_CLIENT_SECRET: 'a-secret-of-the-client',
  ROLLCALL_OIDC_ROLES: 'staff=read',
  ROLLCALL_OIDC_TITLE: 'Ministry login',
  ROLLCALL_CONSOLE_URL: 'https://console.example.org',
}

beforeAll(async () => {
  browsed = await browsedServer(OPENID)
  ;({ server, opened, token, message_id } = browsed)
  ;({ page, open, complaints } = await strangerPage(opened.browser, server))
})
afterAll(() => browsed?.close())

const violations = (): Promise<readonly string[]> => violationsOf(page)

/** Everything that is wrong with the page that is open. */
async function faults(name: string): Promise<string[]> {
  const found = [...(await violations()), ...(await pictures(page, name, RARE.has(name))), ...complaints.splice(0)]
  return found.map((fault) => `${name}: ${fault}`)
}

const nameOf = (hash: string): string => hash.replaceAll(/[^\w]+/g, '-').replaceAll(/^-|-$/g, '') || 'overview'

it('signs in with a token, and leads back to the page that was asked for', async () => {
  await open('/messages')
  expect(await faults('sign-in')).toEqual([])
  await page.getByLabel('Operator token').fill('rollcall_1_wrong')
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('alert').waitFor()
  await page.getByLabel('Operator token').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  expect(complaints.splice(0)).toEqual([])
})

it(
  'every page is accessible in light and dark, fits three widths, and keeps to its policy',
  async () => {
    await open('/')
    const links = 'nav[aria-label="Pages"] a[href^="#/"]'
    const inMenu = await page.locator(links).evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
    expect(inMenu.length).toBeGreaterThan(2)
    const wrong: string[] = []
    const seen = new Set<string>()
    // The first row of each list leads to a page as well.
    const toVisit = [...inMenu.map((href) => href.slice(1)), '/no-such-page']
    for (let hash = toVisit.shift(); hash !== undefined; hash = toVisit.shift()) {
      const [, first = '', ...rest] = hash.split('/')
      const kind = [first, ...rest.map((part: string, at: number) => (at % 2 === 0 ? 'one' : part))].join('-')
      if (seen.has(kind)) continue
      seen.add(kind)
      await open(hash)
      const row = page.locator('main table a[href^="#/"]').first()
      const next = (await row.count()) > 0 ? await row.getAttribute('href') : null
      if (next !== null) toVisit.push(next.slice(1))
      wrong.push(...(await faults(nameOf(kind))))
    }
    expect(wrong).toEqual([])
    expect([...seen]).toEqual(
      expect.arrayContaining([
        ...['', 'messages', 'messages-one', 'deliveries', 'no-such-page'],
        ...['registries-one', 'participants-one', 'participants-one-grants-one'],
      ]),
    )
  },
  LONG,
)

it('shows the content of a message after a reason, which is in the audit log', async () => {
  await open(`/messages/${message_id}`)
  await page.getByRole('button', { name: 'Show the content' }).click()
  const act = page.getByRole('button', { name: 'Log and show' })
  expect(await act.isDisabled()).toBe(true)
  await page.getByLabel('Reason').fill('complaint 12')
  expect(await violations()).toEqual([])
  await act.click()
  await page.getByText('search_request').waitFor()
  expect(await violations()).toEqual([])
  const looks = (await storedEntries(server.database.db)).map(({ entry }) => [entry.note, entry.operator])
  expect(looks).toContainEqual(['messages bodies', 'ops'])
  expect(complaints.splice(0)).toEqual([])
})

it('leads from a step of the timeline to its section of the help', async () => {
  await open(`/messages/${message_id}`)
  await page.getByRole('link', { name: 'Accepted', exact: true }).click()
  const section = page.getByRole('heading', { name: 'accepted', level: 3, exact: true })
  await section.waitFor()
  await page.waitForFunction('document.activeElement?.id === "help-accepted"')
  expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe('The life of a message')
  expect(await violations()).toEqual([])
  expect(complaints.splice(0)).toEqual([])
})

it('adds a participant, shows its secret once, grants after a preview, and removes it when its name is typed', async () => {
  await open('/participants')
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  const dialog = page.getByRole('dialog')
  await button('Add a participant').click()
  await dialog.getByLabel('sender_id').fill('new.example')
  await dialog.getByLabel('Name').fill('A new one')
  expect(await violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Add a participant' }).click()
  const secret = page.getByRole('dialog', { name: 'Client secret of the participant' })
  expect((await secret.locator('code').textContent())?.length).toBeGreaterThan(20)
  expect(await violations()).toEqual([])
  await secret.getByRole('button', { name: 'I have stored it' }).click()
  await secret.waitFor({ state: 'detached' })
  await open('/participants/new.example/grants/civil')
  await page.getByText('No grant is in force').waitFor()
  await page.getByLabel('Begin with').selectOption('eligibility')
  await button('What would it see?').click()
  await page.getByText('The Person, as it would see it').waitFor()
  await button('Grant').click()
  await dialog.getByText('operations').waitFor()
  expect(await violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Grant' }).click()
  await page.getByRole('heading', { name: 'In force' }).waitFor()
  await open('/participants/new.example')
  await button('Remove').click()
  const remove = dialog.getByRole('button', { name: 'Remove' })
  await dialog.getByText('grants').waitFor()
  expect(await remove.isDisabled()).toBe(true)
  await dialog.getByLabel('Type new.example to remove it').fill('new.example')
  await remove.click()
  await page.getByText('new.example is removed.').waitFor()
  await page.getByRole('heading', { name: 'Participants', level: 1 }).waitFor()
  expect(complaints.splice(0)).toEqual([])
})

it('shows who is signed in, and signs somebody out', async () => {
  const { token: shown } = await addOperator(acting(server.context), { name: 'amina', roles: ['read'] })
  const begun = await fetch(`${server.adminUrl}/admin/v1/session`, {
    method: 'POST',
    body: JSON.stringify({ token: shown }),
    headers: { 'Rollcall-Console': '1', 'Content-Type': 'application/json' },
  })
  expect(begun.status).toBe(201)
  await open('/settings?view=operators')
  await page.getByRole('table', { name: 'Sessions of the console' }).waitFor()
  expect(await faults('settings-operators')).toEqual([])
  await page.setViewportSize({ width: 1280, height: 900 })
  await page.getByRole('button', { name: 'Sign amina out' }).click()
  const dialog = page.getByRole('dialog', { name: 'Sign amina out' })
  await dialog.getByLabel('End all sessions of this operator').check()
  expect(await violations()).toEqual([])
  await dialog.getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('amina is signed out. Sessions ended: 1.').waitFor()
  await page.getByRole('button', { name: 'Sign amina out' }).waitFor({ state: 'detached' })
  expect(complaints.splice(0)).toEqual([])
})

it('is used with the keyboard alone', async () => {
  await open('/')
  await page.keyboard.press('g')
  await page.keyboard.press('m')
  const heading = page.getByRole('heading', { name: 'Messages', level: 1 })
  await heading.waitFor()
  // Who listens hears which page is open.
  expect(await heading.evaluate((element) => element === element.ownerDocument.activeElement)).toBe(true)
  await page.keyboard.press('/')
  await page.keyboard.type('m-1')
  await page.keyboard.press('Enter')
  await page.waitForURL(/#\/messages\?message_id=m-1$/)
  await page.locator('h1').focus()
  await page.keyboard.press('?')
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
  expect(await violations()).toEqual([])
  await page.keyboard.press('Escape')
  expect(complaints).toEqual([])
})

it('signs out, shows nothing of before, and offers each way to sign in', async () => {
  await page.emulateMedia({ colorScheme: 'light' })
  await page.getByRole('button', { name: 'Signed in as ops' }).click()
  expect(await violations()).toEqual([])
  await page.getByRole('menuitem', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByRole('table').count()).toBe(0)
  const other = page.getByRole('link', { name: OPENID.ROLLCALL_OIDC_TITLE, exact: true })
  expect(await other.getAttribute('href')).toBe('/admin/v1/session/openid')
})

it('shows to a reader what a reader may see, and offers nothing else', async () => {
  const { token: reading } = await addOperator(acting(server.context), { name: 'looks', roles: ['read'] })
  await page.getByLabel('Operator token').fill(reading)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'Messages', level: 1 }).waitFor()
  await open('/messages')
  const first = page.locator('main table a[href^="#/"]').first()
  await first.click()
  await page.getByRole('heading', { name: 'Timeline' }).waitFor()
  expect(await page.getByRole('button', { name: 'Show the content' }).count()).toBe(0)
  expect(complaints).toEqual([])
})

it(
  'a participant signs in to the partner page with a link, sees its own, and asks for a delivery again',
  async () => {
    await page.context().close()
    const found = await strangerPage(opened.browser, { adminUrl: server.url })
    ;({ page, complaints } = found)
    const sender_id = 'spmis.example'
    const message_id = 'm-own'
    await server.database.db.pool.query(
      `insert into delivery (id, participant, registry, callback, message_id, target, encrypted, body, state, reason)
        select $1, participant.id, registry.id, 'on-search', $2, 'https://away.example/in', false, '\\x01', 'dead', 'timeout'
        from participant, registry where participant.sender_id = $3 and namespace = 'civil'`,
      [randomUUID(), message_id, sender_id],
    )
    const at = `${server.url}/partner`
    await page.goto(at)
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    const wrong = await faults('partner-sign-in')
    // A link that is opened in a tab that has the page changes only what is behind the #.
    const operator = await operatorPage(opened.browser, server, 'links', ['operate'])
    await operator.open(`/participants/${sender_id}`)
    await operator.button('Partner link').click()
    await operator.button('Make a link').click()
    const shown = operator.dialog('Link to the partner page').locator('code')
    const link = (await shown.textContent()) ?? ''
    expect(link.startsWith(`${at}#`)).toBe(true)
    expect(operator.complaints).toEqual([])
    await operator.page.context().close()
    await page.goto(link)
    await found.button('Sign in with this link').waitFor()
    expect(page.url()).toBe(at)
    await found.button('Sign in with this link').click()
    await page.getByRole('heading', { name: sender_id, level: 1 }).waitFor()
    for (const view of ['/', '/deliveries', `/deliveries/${message_id}`, '/subscriptions', '/keys', '/grants']) {
      await page.goto(`${at}#${view}`)
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
      await settled(page)
      wrong.push(...(await faults(`partner-${nameOf(view)}`)))
    }
    expect(wrong).toEqual([])
    await page.goto(`${at}#/deliveries`)
    await page.locator('main table a').first().click()
    await page.getByText('The answer did not come in time.').waitFor()
    await found.button('Send again').click()
    await page.getByRole('dialog').getByRole('button', { name: 'Send again' }).click()
    await page.getByText('It is sent again.').waitFor()
    await page.getByText('pending').waitFor()
    expect(await violations()).toEqual([])
    await found.button('Sign out').click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect([await page.getByRole('table').count(), complaints]).toEqual([0, []])
  },
  LONG,
)

it(
  'says what to do where there is nothing yet, and what went wrong where there is no answer',
  async () => {
    const empty = await testServer()
    const first = await operatorPage(opened.browser, empty, 'first', ['own'])
    const wrong: string[] = []
    for (const hash of ['/', '/messages', '/deliveries', '/participants', '/registries', '/try', '/approvals']) {
      await first.open(hash)
      wrong.push(...(await pictures(first.page, `empty-${nameOf(hash)}`)))
    }
    await first.open('/messages/none')
    await first.page.getByText('It is not here').waitFor()
    wrong.push(...(await pictures(first.page, 'error-not-found')))
    expect([...wrong, ...first.complaints.splice(0)]).toEqual([])

    // The page waits before it asks again, by its own timer.
    await first.page.clock.install()
    await first.open('/registries')
    await first.page.context().setOffline(true)
    await first.page.getByRole('link', { name: 'Settings', exact: true }).click()
    await first.page.getByText('This page could not be loaded').waitFor()
    wrong.push(...(await pictures(first.page, 'error-not-loaded')))
    await first.open('/messages/another')
    const failed = first.page.getByRole('alert')
    await expect
      .poll(async () => {
        await first.page.clock.fastForward(5_000)
        return failed.getByText('The server does not answer.').count()
      })
      .toBe(1)
    wrong.push(...(await pictures(first.page, 'error-no-answer')))
    await first.open('/approvals')
    const outdated = first.page.getByText('The server has not answered since.')
    await expect
      .poll(async () => {
        await first.page.clock.fastForward(10_000)
        return outdated.count()
      })
      .toBe(1)
    wrong.push(...(await pictures(first.page, 'error-outdated')))
    expect(wrong).toEqual([])
    await first.page.context().setOffline(false)
    await first.button('Try again').click()
    await outdated.waitFor({ state: 'detached' })
    await first.page.context().close()
    await empty.close()
  },
  LONG,
)

it('a link that was used before says so in words, in place of a code', async () => {
  const stranger = await strangerPage(opened.browser, server)
  await stranger.page.goto(`${server.adminUrl}/#/sign-in/not-a-code`)
  await stranger.button('Sign in with this link').click()
  await stranger.page.getByText('This link was used before, or it has expired.').waitFor()
  expect(await stranger.page.getByText('code: is not valid').count()).toBe(0)
  await stranger.page.context().close()
})
