/**
 * Texts of strangers on the pages of the console: names, ids, keys, reasons, answers and records that are HTML, scripts,
 * templates or marks that turn text round. On every page they stay text: no script runs, nothing of them becomes an
 * element, and the content security policy has nothing to forbid.
 */

import { INITIAL_PROGRESS, saveProgress } from '@rollcall/import/import-progress'
import { setCallbackSettings } from '@rollcall/participants/store/participant-callbacks'
import { saveCheck } from '@rollcall/participants/store/participant-checks'
import { changeParticipant } from '@rollcall/participants/store/participants'
import { notePublishedKeyUse } from '@rollcall/participants/store/published-keys'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { openBrowser, type TestBrowser } from '../../admin/test/browser.ts'
import { keyPair, publicKey } from '../../core/test/key-pairs.ts'
import { accepted, byIdentifier, searchFor } from '../../server/test/asynchronous.ts'
import { answering, LOOPBACK, receiver } from '../../server/test/deliveries.ts'
import { registerKey } from '../../server/test/sealing.ts'
import { bearer, post, type TestServer, testServer } from '../../server/test/server.ts'
import { about, subscribeFor } from '../../server/test/subscribing.ts'
import { LONG, type OperatorPage, operatorPage, settled } from './in-browser.ts'

const SENDER = 'stranger.example'

/** A hostile text for every place that our pages show; the tag says where it came from. An id has at most 99 characters. */
const hostile = (tag: string): string =>
  `${tag}"'><img src onerror=__ran=1><svg onload=__ran=1><a href=javascript:__ran=1>{{7*7}}\u202e\u2067`

/** A kid has printable characters alone, and no quotes. */
const plain = (text: string): string => text.replaceAll(/["\u202e\u2067]/g, '')

const PICTURE = `<svg xmlns="http://www.w3.org/2000/svg" onload="__ran='answer'"><script>__ran=1</script></svg>`

/** A record whose name is hostile, too. */
const PERSON = {
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: '0012' }],
  name: { given_name: hostile('record') },
}

let server: TestServer
let opened: TestBrowser
let ada: OperatorPage
let ben: OperatorPage

beforeAll(async () => {
  server = await testServer({ ROLLCALL_ROLE: 'all', ROLLCALL_TWO_PERSON: '1' })
  const { db } = server.database
  const civil = await server.registry('civil', [PERSON])
  const peer = await receiver(answering(410, PICTURE, { 'content-type': 'image/svg+xml' }))
  server.closing(peer)
  const stranger = await server.participant(
    SENDER,
    { outgoing: [LOOPBACK] },
    { legal_reference: hostile('law'), responsible: hostile('responsible'), emergency: { see: 'all', items_per_day: 5 } },
  )
  const participant = await changeParticipant(db, SENDER, { name: hostile('name') })
  await setCallbackSettings(db, participant.id, { default_url: peer.url })

  // The message of the hostile participant.
  const meta = { requested_by: hostile('user'), case: hostile('case') }
  const item = byIdentifier('UIN', '0012')
  const search = searchFor(stranger, [{ ...item, reference_id: hostile('reference') }], {
    header: { message_id: hostile('message'), meta },
    message: { transaction_id: hostile('transaction') },
  })
  await accepted(server, stranger, search)
  const purpose = { code: 'emergency', text: hostile('emergency') }
  const authorize = { ts: new Date().toISOString(), purpose }
  const urgent = searchFor(stranger, [byIdentifier('UIN', '0012', { authorize })], { header: { meta } })
  const answer = await post(`${server.url}/civil/v1.0.0/registry/sync/search`, urgent, bearer(stranger))
  expect(answer.body.message.search_response).toMatchObject([{ status: 'succ' }])
  const [subscription] = [{ subscribe_criteria: about('0012'), reference_id: hostile('item') }]
  const subscribe = subscribeFor(stranger, [subscription ?? {}], { message: { transaction_id: hostile('subscribed') } })
  await accepted(server, stranger, subscribe, 'subscribe')

  // Stored hostile texts: keys, the report of a check, an import with a rejected line.
  await registerKey(server, SENDER, keyPair('Ed25519'), { use: 'sig', kid: plain(hostile('kid')) })
  await notePublishedKeyUse(db, SENDER, await publicKey('Ed25519', { kid: plain(hostile('published')), sender_id: SENDER }))
  const steps = [{ name: 'send', state: 'missing' as const, text: hostile('check') }]
  const report = { checked_at: new Date(), version: '0.1.0', passed: false, steps }
  await saveCheck(db, { participant, registry: civil, since: new Date() }, report)
  const rejections = [{ reason: hostile('import'), count: 1, lines: [1] }]
  const client = await db.pool.connect()
  await saveProgress(client, civil.id, 'x', { ...INITIAL_PROGRESS, read: { ...INITIAL_PROGRESS.read, rejections } })
  client.release()
  await vi.waitUntil(() => peer.received.length === 2, { timeout: 60_000 })

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

/** All that was shown, of every page. */
const shown: string[] = []

/** Runs in the page: what of it is no text, and which text could turn others round. */
const LOOK = `(() => {
  const made = 'img, iframe, object, embed, script:not([src]), [onload], [onerror], a[href^="javascript:" i]'
  const found = [...document.querySelectorAll(made)].map((element) => element.outerHTML.slice(0, 120))
  if ('__ran' in window) found.push('a script has run: ' + window.__ran)
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const text = node.data
    if (!/[\\u202a-\\u202e\\u2066-\\u2069]/.test(text) || node.parentElement.closest('pre, option, textarea')) continue
    let around = node.parentElement
    while (!/isolate|plaintext/.test(getComputedStyle(around).unicodeBidi)) around = around.parentElement
    // Whatever stands behind the marks is turned round.
    if (around.textContent !== text || !/[\\u202a-\\u202e\\u2066-\\u2069]$/.test(text)) {
      found.push('beside it: ' + around.textContent)
    }
  }
  return { found, text: document.body.textContent }
})()`

/** The faults of a page; its text is remembered. */
async function faults({ page, complaints }: OperatorPage, name: string): Promise<readonly string[]> {
  const { found, text } = (await page.evaluate(LOOK)) as { found: readonly string[]; text: string }
  shown.push(text)
  return [...found, ...complaints.splice(0)].map((fault) => `${name}: ${fault}`)
}

/** Pages that show it; the last ones are asked for it. */
const PAGES = [
  ...['/', '/messages', '/deliveries', '/mailboxes', '/participants', '/subscriptions', '/events'],
  ...[`/messages/${encodeURIComponent(hostile('message'))}`, '/accounts', '/accounts?view=emergencies'],
  ...[`/participants/${SENDER}`, `/participants/${SENDER}/grants/civil`, '/registries/civil', '/settings'],
  ...['messages', 'deliveries', 'participants', 'registries', 'subscriptions', 'approvals', 'help'].map(
    (name) => `/${name}/${encodeURIComponent(hostile('address'))}`,
  ),
  `/messages?message_id=${encodeURIComponent(hostile('filter'))}`,
]

it(
  'stay text on every page',
  async () => {
    const wrong: string[] = []
    const { page, open, button, dialog } = ada
    for (const hash of PAGES) {
      await open(hash)
      wrong.push(...(await faults(ada, hash.slice(0, 40))))
    }
    for (const list of ['/deliveries', '/subscriptions']) {
      await open(list)
      await page.locator('main table a[href^="#/"]').first().click()
      await page.getByRole('link', { name: /^All / }).waitFor()
      await settled(page)
      wrong.push(...(await faults(ada, `one of ${list}`)))
    }

    await open(`/participants/${SENDER}`)
    await button('Send a test').click()
    await dialog(`Send a test message to ${SENDER}`).getByRole('button', { name: 'Send', exact: true }).click()
    await dialog('Test message').getByText(PICTURE).waitFor()
    wrong.push(...(await faults(ada, 'test message')))

    await open('/accounts?view=person')
    await page.getByLabel('Identifier type').fill('UIN')
    await page.getByLabel('Identifier', { exact: true }).fill('0012')
    await page.getByLabel('Also users, cases and reasons').check()
    await button('Look').click()
    await page.locator('main li > details > summary').first().click()
    await page.getByText(hostile('user')).first().waitFor()
    wrong.push(...(await faults(ada, 'audit entries of a person')))

    await open('/try')
    await page.getByRole('radio', { name: 'Identifier' }).check()
    await page.getByRole('textbox', { name: 'Identifier' }).fill(hostile('tried'))
    await button('Build').click()
    await page.getByRole('tab', { name: 'curl' }).waitFor()
    wrong.push(...(await faults(ada, 'try')))
    expect(wrong).toEqual([])
  },
  LONG,
)

it(
  'stay text in reasons, in what is approved, and in a record that is opened',
  async () => {
    const wrong: string[] = []
    await ada.open(`/messages/${encodeURIComponent(hostile('message'))}`)
    await ada.button('Show the content').click()
    await ada.page.getByLabel('Reason').fill(hostile('reason'))
    await ada.button('Log and show').click()
    await ada.page.getByText('A second operator has to approve this.').waitFor()
    wrong.push(...(await faults(ada, 'proposed')))
    await ben.open('/approvals')
    await ben.page.getByRole('link', { name: 'messages bodies' }).click()
    await ben.page.getByText(hostile('reason')).waitFor()
    wrong.push(...(await faults(ben, 'proposal')))
    await ben.button('Approve').click()
    await ben.dialog('Approve').getByRole('button', { name: 'Approve', exact: true }).click()
    await ben.page.getByRole('heading', { name: 'What the act answered' }).waitFor()
    wrong.push(...(await faults(ben, 'opened')))
    expect(wrong).toEqual([])
  },
  LONG,
)

it.each([
  ...['name', 'message', 'transaction', 'reference', 'item', 'subscribed', 'user', 'case', 'emergency'],
  ...['law', 'responsible', 'kid', 'published', 'check', 'import', 'address', 'reason', 'record', 'tried'],
])('were shown: %s', (tag) => {
  // In a JSON document a quote is escaped.
  const written = [hostile(tag), JSON.stringify(hostile(tag)).slice(1, -1)].map(plain)
  expect(shown.some((page) => written.some((one) => plain(page).includes(one)))).toBe(true)
})
