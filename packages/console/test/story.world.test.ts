/**
 * Operators at work in a browser, on a real server with a real database and a real receiver: a participant is taken in
 * with two-person approval, its first message arrives, its callback fails and is mended, and its deliveries are changed
 * by hand. Whoever only reads, or is nobody, may do none of it.
 */
import type { Jwk } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openBrowser, type TestBrowser } from '../../admin/test/browser.ts'
import { identifier, RegistryClient } from '../../client/src/index.ts'
import { keyPair } from '../../core/test/key-pairs.ts'
import { ADMIN_ROUTES } from '../../server/src/http/admin/routes.ts'
import { answering, type Receiver, receiver } from '../../server/test/deliveries.ts'
import { type TestServer, testServer } from '../../server/test/server.ts'
import { LONG, type OperatorPage, operatorPage, pictures, strangerPage } from './in-browser.ts'

const SENDER = 'ministry.example'
const REGISTRY = 'civil.example'
const WAITS = 'A second operator has to approve this.'
const KEYS = keyPair('Ed25519')

let server: TestServer
let opened: TestBrowser
/** Two operators who own the registries. */
let ada: OperatorPage
let ben: OperatorPage
/** Refuses for good, and takes everything. */
let broken: Receiver
let mended: Receiver
/** The participant's credentials, which ada sees once. */
const credentials = { client_id: '', client_secret: '' }

beforeAll(async () => {
  server = await testServer({
    ROLLCALL_ROLE: 'all',
    ROLLCALL_TWO_PERSON: '1', // Nothing is attempted again while the pages are opened: an operator does it.
    ROLLCALL_RETRY_SCHEDULE: '3600',
    limits: { replay_deliveries: 2 },
  })
  await server.registry('civil', [
    { '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: '0012' }], name: { given_name: 'Ada' } },
  ])
  ;[broken, mended] = await Promise.all([receiver(answering(410)), receiver()])
  for (const peer of [broken, mended]) server.closing(peer)
  opened = await openBrowser()
  ;[ada, ben] = await Promise.all([
    operatorPage(opened.browser, server, 'ada', ['own']),
    operatorPage(opened.browser, server, 'ben', ['own']),
  ])
})
afterAll(async () => {
  await opened?.close()
  await server?.close()
})

const client = (): RegistryClient =>
  new RegistryClient({
    base_url: `${server.url}/civil/v1.0.0`,
    sender_id: SENDER,
    receiver_id: REGISTRY,
    credentials,
    signing: { key: { ...KEYS.privateJwk, kid: 'sig-1' } as Jwk },
  })

/** Fills in the dialog behind a button, and sends it; what it asks for waits for another operator. */
async function propose(
  by: OperatorPage,
  [label, title]: readonly [label: string, title: string],
  fill: (dialog: ReturnType<OperatorPage['dialog']>) => Promise<void>,
  act = label,
): Promise<void> {
  await by.button(label).click()
  const dialog = by.dialog(title)
  await fill(dialog)
  await dialog.getByRole('button', { name: act, exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await by.page.getByText(WAITS).last().waitFor()
}

/** Finds the proposal in the list, reads what would change, and approves it. */
async function approve({ page, open, button, dialog }: OperatorPage, act: string, changes: readonly string[]) {
  await open('/approvals?state=waiting')
  await page.getByRole('link', { name: act, exact: true }).click()
  const diff = page.getByRole('table', { name: 'What would change' })
  for (const text of changes) await diff.getByText(text).first().waitFor()
  await button('Approve').click()
  await dialog('Approve').getByRole('button', { name: 'Approve', exact: true }).click()
  await page.locator('main').getByText('done', { exact: true }).waitFor()
}

const callbackAddress = (by: OperatorPage, url: string): Promise<void> =>
  propose(by, ['Change', 'Callbacks and notifications'], (dialog) => dialog.getByLabel('Address of callbacks').fill(url), 'Save')

it(
  'a participant is taken in: what gives access waits for a second operator, who sees what would change',
  async () => {
    const { page, open, button, dialog } = ada
    await open('/participants')
    await button('Add a participant').click()
    const form = dialog('Add a participant')
    await form.getByLabel('sender_id').fill(SENDER)
    await form.getByLabel('Name').fill('Ministry')
    await form.getByRole('button', { name: 'Add a participant' }).click()
    const secret = dialog('Client secret of the participant')
    credentials.client_secret = (await secret.locator('code').textContent()) ?? ''
    await secret.getByRole('button', { name: 'I have stored it' }).click()
    await secret.waitFor({ state: 'detached' })

    await open(`/participants/${SENDER}`)
    credentials.client_id = (await page.locator('dd code').first().textContent()) ?? ''
    await propose(ada, ['Add keys', 'Add keys'], async (keys) => {
      await keys.getByLabel('Public keys').fill(JSON.stringify(KEYS.jwk))
      await keys.getByLabel('kid', { exact: true }).fill('sig-1')
      await keys.getByLabel('Use').selectOption('sig')
    })
    await propose(ada, ['Allow a host', 'Allow a host'], async (host) => {
      await host.getByLabel('Host').fill('127.0.0.1')
      await host.getByLabel('Ports').fill('any')
      await host.getByLabel('Without TLS').check()
      await host.getByLabel('An address of this machine').check()
    })
    await page.getByText('No key is registered').waitFor()
    const wide = [...(await pictures(page, 'waits-for-approval'))]
    await open(`/participants/${SENDER}/grants/civil`)
    await page.getByLabel('Begin with').selectOption('eligibility')
    await propose(ada, ['Grant', `Grant this to ${SENDER} in civil`], async () => undefined)

    await approve(ben, 'participant key add', [SENDER, '"kid": "sig-1"'])
    await approve(ben, 'participant host allow', ['"host": "127.0.0.1"'])
    await approve(ben, 'grant set', [SENDER, '"basis"'])
    await open(`/participants/${SENDER}`)
    await callbackAddress(ada, broken.url)
    await approve(ben, 'participant callback', [broken.url])
    await page.reload()
    await page.getByRole('table', { name: 'Registered keys' }).getByText('sig-1').waitFor()
    await page.getByText(broken.url).waitFor()
    await ben.open('/approvals')
    await ben.page.getByRole('link', { name: 'grant set' }).click()
    await ben.page.getByRole('heading', { name: 'Proposal: grant set', level: 1 }).waitFor()
    await ben.page.getByRole('table', { name: 'What would change' }).waitFor()
    wide.push(...(await pictures(ben.page, 'approved-grant')))
    expect(wide).toEqual([])
  },
  LONG,
)

it(
  'its first message is seen at once, and its callback that failed with the cause; mended, it arrives',
  async () => {
    const { page, open, button, dialog } = ada
    // The page asks again by its own timer, which the test moves on.
    await page.clock.install()
    await open('/messages')
    await page.reload()
    await page.getByText('No message yet').waitFor()
    const { correlation_id } = await client().searchAsync(identifier('UIN', '0012'))
    await expect.poll(() => broken.received.length).toBe(1)
    await page.clock.fastForward(10_000)
    const messages = page.getByRole('table', { name: 'Messages' })
    const row = messages.getByRole('row').filter({ hasText: 'accepted' })
    await row.getByText(SENDER).waitFor()
    await messages.getByText('answered, delivery failed').waitFor()
    expect(await messages.getByText('succeeded').count()).toBe(0)

    await open('/deliveries')
    const trouble = page.getByRole('region', { name: 'Destinations in trouble' })
    await trouble.getByText('The receiver answered with an HTTP status that the same message').waitFor()
    await trouble.getByText('set another address; then replay the delivery').waitFor()
    const wide = [...(await pictures(page, 'deliveries-in-trouble'))]

    await open(`/participants/${SENDER}`)
    await callbackAddress(ada, mended.url)
    await approve(ben, 'participant callback', [broken.url, mended.url])

    await open('/deliveries?state=dead')
    await button('Replay').click()
    const replay = dialog('Replay deliveries')
    await replay.getByText('Deliveries: 1').waitFor()
    await replay.getByText(SENDER).waitFor()
    wide.push(...(await pictures(page, 'replay-preview')))
    await replay.getByRole('button', { name: 'Replay 1' }).click()
    await replay.waitFor({ state: 'detached' })
    await expect.poll(() => mended.received.length).toBe(1)
    const headers = [broken, mended].map(({ received }) => JSON.parse(received[0]?.body ?? '').header)
    expect(headers[1].message_id).toBe(headers[0].message_id)
    expect(JSON.parse(mended.received[0]?.body ?? '').message.correlation_id).toBe(correlation_id)

    await open('/messages')
    await row.getByRole('link').click()
    const timeline = page.getByRole('region', { name: 'Timeline' })
    await timeline.getByText('Delivery ended').waitFor()
    expect(await timeline.getByRole('listitem').locator('a[href^="#/help/message-flow/"]').allTextContents()).toEqual([
      ...['Received', 'Verified', 'Checked', 'Accepted', 'Begun', 'Searched', 'Answer made', 'Finished'],
      ...['Delivery attempt 1', 'Sent again', 'Delivery attempt 2', 'Delivery ended'],
    ])
    expect([...wide, ...(await pictures(page, 'timeline-replayed'))]).toEqual([])
  },
  LONG,
)

it(
  'who has looked at a person is told, and the audit log is verified',
  async () => {
    const { page, open, button } = ada
    await open('/accounts?view=person')
    await page.getByLabel('Identifier type').fill('UIN')
    await page.getByLabel('Identifier', { exact: true }).fill('0012')
    await button('Look').click()
    const looks = page.getByRole('list', { name: 'Data of the person left' })
    const sentence = /^Ministry, \d+ search(es)?, last on \d+ \w+ 20\d\d: identifier, name$/
    await looks.locator('summary').filter({ hasText: sentence }).click()
    await looks.getByText(SENDER).first().waitFor()
    await looks.getByText('Values: ').first().click()
    await looks.getByText('name.given_name').first().waitFor()
    expect(page.url()).not.toContain('0012')
    await open('/accounts?view=verify')
    await button('Verify the audit log').click()
    await page.clock.fastForward(2_000)
    await page.getByText('complete and unchanged').waitFor()
  },
  LONG,
)

it(
  'deliveries are cancelled, retried and replayed by range, with a preview; many wait for a second operator',
  async () => {
    const { page, open, button, dialog } = ada
    const act = async (name: string, title: string, confirm: string): Promise<void> => {
      await button(name).click()
      await dialog(title).getByText('Deliveries: ').waitFor()
      await dialog(title).getByRole('button', { name: confirm, exact: true }).click()
      await dialog(title).waitFor({ state: 'detached' })
    }
    mended.answer = answering(503)
    const before = mended.received.length
    for (const _ of ['one', 'another']) await client().searchAsync(identifier('UIN', '0012'))
    await expect.poll(() => mended.received.length).toBe(before + 2)
    await open('/messages')
    await page.getByText('answered, delivery waiting').nth(1).waitFor()
    await open('/')
    await page.getByText('Deliveries that wait at destinations that fail: 2').waitFor()
    expect(await page.getByText('Nothing needs you').count()).toBe(0)

    await open('/deliveries?state=pending')
    const rows = page.getByRole('table', { name: 'Deliveries' }).getByRole('row').filter({ hasText: SENDER })
    await rows.first().getByRole('link').click()
    await page.getByText('The receiver answered with an HTTP status of 500 or more.').first().waitFor()
    await act('Cancel delivery', 'Cancel deliveries', 'Cancel delivery (1)')
    await page.getByText('An operator cancelled it.').waitFor()

    mended.answer = answering(200)
    await open('/deliveries?state=pending')
    await act('Retry now', 'Retry deliveries', 'Retry 1')
    await expect.poll(() => mended.received.length).toBe(before + 3)
    await open('/deliveries')
    await page.clock.fastForward(10_000)
    await rows.filter({ hasText: 'delivered' }).nth(1).waitFor()

    await page.getByText('More conditions').click()
    const [from, until] = [-1, 1].map((hours) => new Date(Date.now() + hours * 3_600_000).toISOString())
    await page.getByLabel('Made from').fill((from ?? '').slice(0, 16))
    await page.getByLabel('Made before').fill((until ?? '').slice(0, 16))
    await button('Search').click()
    await page.getByText('With all that match the filter:').waitFor()
    await act('Replay', 'Replay deliveries', 'Replay 3')
    const notice = page.getByRole('status').getByText(WAITS)
    await notice.last().waitFor()
    await page.clock.fastForward(60_000)
    await expect.poll(() => notice.count()).toBe(0)
    expect(mended.received.length).toBe(before + 3)
    await approve(ben, 'deliveries replay', ['more than 2'])
    await expect.poll(() => mended.received.length).toBe(before + 6)
    const ids = mended.received.map(({ body }) => JSON.parse(body).header.message_id)
    expect(new Set(ids).size).toBe(3)
    expect([ada, ben].flatMap(({ complaints }) => complaints)).toEqual([])
  },
  LONG,
)

/** Addresses of every page that there is something to do at. */
const WORK = [
  ...['/', '/messages', '/deliveries?state=delivered', '/mailboxes', '/participants', '/registries'],
  ...[`/participants/${SENDER}`, `/participants/${SENDER}/grants/civil`, '/registries/civil'],
  ...['/subscriptions', '/events', '/approvals', '/settings'],
]
/** Controls that show more of a page, or show it in another way, and change nothing. */
const HARMLESS = /^(?:Search|Clear|Older|Newest|Refresh|What would it see\?|Copy .*)$/

/** The answers to calls from a page, with its session. */
const called = ({ page }: OperatorPage, routes: readonly { readonly method: string; readonly path: string }[]) =>
  page.evaluate(
    (calls) =>
      Promise.all(
        calls.map(async ({ method, path }) => {
          const { status } = await fetch(`/admin/v1${path}`, {
            method,
            headers: { 'Rollcall-Console': '1', 'Content-Type': 'application/json' },
            ...(method !== 'GET' && { body: '{}' }),
          })
          return `${method} ${path} ${status}`
        }),
      ),
    routes.map(({ method, path }) => ({ method, path: path.replaceAll(/\{\w+\}/g, 'civil') })),
  )

it(
  'a viewer is offered no act, and may call none',
  async () => {
    const viewer = await operatorPage(opened.browser, server, 'vic', ['read'])
    const offered: string[] = []
    for (const hash of WORK) {
      await viewer.open(hash)
      const names = await viewer.page.locator('main').getByRole('button').allInnerTexts()
      const labels = names.map((name) => name.trim()).filter((name) => name !== '' && !HARMLESS.test(name))
      offered.push(...labels.map((name) => `${hash}: ${name}`))
    }
    expect(offered).toEqual([])
    expect(viewer.complaints).toEqual([])
    const forbidden = ADMIN_ROUTES.filter(({ role }) => role !== 'read')
    const answers = await called(viewer, forbidden)
    expect(answers.length).toBeGreaterThan(50)
    expect(answers.filter((answer) => !answer.endsWith(' 403'))).toEqual([])
  },
  LONG,
)

it(
  'a session that was ended, or was idle for too long, shows the sign-in page alone, as to a stranger',
  async () => {
    const isSignedOut = async ({ page }: OperatorPage): Promise<void> => {
      await page.getByRole('heading', { name: 'Sign in', level: 1 }).waitFor()
      for (const role of ['table', 'navigation'] as const) expect(await page.getByRole(role).count()).toBe(0)
    }
    const cookies = await ben.page.context().cookies()
    await ben.open('/participants')
    await ben.button('Signed in as ben').click()
    await ben.page.getByRole('menuitem', { name: 'Sign out' }).click()
    await isSignedOut(ben)
    await ben.page.context().addCookies(cookies)
    await ben.page.reload()
    await isSignedOut(ben)

    await ada.open('/participants')
    server.clock.pass(31 * 60_000)
    await ada.page.getByRole('link', { name: 'Registries', exact: true }).click()
    await isSignedOut(ada)

    const nobody = await strangerPage(opened.browser, server)
    for (const hash of WORK) {
      await nobody.open(hash)
      await isSignedOut(nobody)
    }
    const answers = await called(nobody, ADMIN_ROUTES)
    expect(answers.filter((answer) => !answer.endsWith(' 401'))).toEqual([])
    expect(nobody.complaints).toEqual([])
  },
  LONG,
)
