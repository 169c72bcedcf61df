/** A demo that is played with: its receiver is broken and mended, it lives, and tells who subscribes. */
import { randomUUID } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { AxeBuilder } from '@axe-core/playwright'
import { makeNotifiedRecordConverter } from '@rollcall/core/events/shown'
import { canonicalJson, KINDS, recordTypesOf } from '@rollcall/protocol'
import { generate } from '@rollcall/synthetic'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openBrowser } from '../../../admin/test/browser.ts'
import { demoToken } from '../../test/ask.ts'
import { printed, type Running, rollcall, start, until } from '../../test/command.ts'
import { demoCalls } from '../../test/demo-calls.ts'
import { filledDemo } from '../../test/filled-demo.ts'
import type { DemoFile } from './demo-file.ts'

// biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what is asserted
type Answer = any

let home: Awaited<ReturnType<typeof filledDemo>>
let running: Running
let demo: DemoFile
let env: { ROLLCALL_DATA: string }

beforeAll(async () => {
  home = await filledDemo()
  env = { ROLLCALL_DATA: home.path }
  running = start(['demo'], env)
  await printed(running, /Ctrl-C stops it/)
  demo = JSON.parse(await readFile(join(home.path, 'demo.json'), 'utf8'))
})

afterAll(async () => {
  await running.stop()
  await home.remove()
})

const { addressOfCallbacks, adminJson, adminPost, civilQueries, demoPage, demoState, demoSwitch, receiverState } = demoCalls(
  () => ({ running, demo }),
)

test('its receiver of callbacks fails when it is told to, is mended, and then takes what waited', async () => {
  const { sender_id } = demo.participant
  const before = await receiverState()
  expect(before).toEqual({
    sender_id,
    url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/demo-receiver$/),
    answers: true,
    taken: 0,
    not_taken: 0,
    last_message_id: null,
  })
  expect(await addressOfCallbacks()).toBe(before.url)
  expect(before.url).toBe(`${demoPage()}/demo-receiver`)

  expect(await demoSwitch('receiver/break')).toMatchObject({ receiver: { answers: false } })
  const [{ type, value } = { type: '', value: '' }] = civilQueries()
  const asked = { sender_id, identifier: { type, value }, later: true, send: true }
  const { reply } = await adminPost('registries/civil/try', asked)
  expect([reply.status, JSON.parse(reply.body).message.ack_status]).toEqual([200, 'ACK'])
  const state = (wanted: (state: Answer) => boolean) => async () => {
    const found = await receiverState()
    return wanted(found) ? found : null
  }
  expect(
    await until(
      running,
      state(({ not_taken }) => not_taken > 0),
    ),
  ).toMatchObject({ taken: 0 })

  expect(await demoSwitch('receiver/mend')).toMatchObject({ receiver: { answers: true } })
  const mended = await until(running, async () => {
    await adminPost('deliveries/retry', { participant: sender_id })
    return state(({ taken }) => taken > 0)()
  })
  expect(mended).toMatchObject({ taken: 1, last_message_id: expect.any(String) })
})

test('it lives when it is told to, until it is told to stop', async () => {
  const count = async (path: string) => (await adminJson(path)).length
  const before = await count('registries/civil/events?limit=1000')
  expect((await demoState()).simulation).toEqual({ running: false })
  expect((await demoSwitch('simulation/start')).simulation).toEqual({ running: true })
  expect(await until(running, async () => (await count('registries/civil/events?limit=1000')) > before || null)).toBe(true)
  const later = async () => (await receiverState()).taken
  const taken = await later()
  expect(await until(running, async () => (await later()) > taken || null)).toBe(true)
  expect((await demoSwitch('simulation/stop')).simulation).toEqual({ running: false })
  expect((await demoState()).simulation).toEqual({ running: false })
})

test('the link that it prints signs in to its console, once; the peers’ page leads there, and has no token of the operator’s', async () => {
  const { stdout } = running.output()
  const [, base, code] = / (\S+)\/#\/sign-in\/(\S+)$/m.exec(stdout) ?? []
  expect(base).toBe(demo.admin.base_url)
  const signIn = () =>
    fetch(`${base}/admin/v1/session`, {
      method: 'POST',
      body: JSON.stringify({ code }),
      headers: { 'Rollcall-Console': '1', 'Content-Type': 'application/json' },
    })
  expect(await (await signIn()).json()).toMatchObject({
    operator: 'demo-console',
    demo: true,
    demo_page: demoPage(),
    roles: expect.arrayContaining(['own', 'audit']),
  })
  expect((await signIn()).status).toBe(401)
  expect(stdout).not.toContain(demo.admin.token)
  const page = await (await fetch(demo.base_url, { headers: { accept: 'text/html' } })).text()
  expect(page).toContain(`<a href="${base}/">Open the console</a>`)
  expect(page).not.toContain(demo.admin.token)
  expect(page).not.toContain('sign-in/')
})

test('its receiver is broken and mended with the mouse, from the console and back', async () => {
  const opened = await openBrowser()
  try {
    const page = await (await opened.browser.newContext()).newPage()
    const complaints: string[] = []
    // The first question of the console, who is signed in, is answered with 401.
    page.on('console', (line) => line.text().startsWith('Failed to load') || complaints.push(line.text()))
    const { stdout } = await rollcall(['operator', 'link', 'demo-console'], env)
    await page.goto(`${demo.admin.base_url}/${/#\/sign-in\/\S+/.exec(stdout)?.[0]}`)
    await page.getByRole('button', { name: 'Sign in with this link' }).click()
    await page.getByRole('link', { name: 'Let it live, break it' }).click()
    const wrong = async () => (await new AxeBuilder({ page }).analyze()).violations.map(({ id }) => id)
    await page.getByRole('button', { name: 'Make it fail' }).click()
    await page.getByText('It fails: it answers each callback with HTTP 503.').waitFor()
    expect([await receiverState(), await wrong()]).toMatchObject([{ answers: false }, []])
    const [{ type, value } = { type: '', value: '' }] = civilQueries()
    const { sender_id } = demo.participant
    const asked = { sender_id, identifier: { type, value }, later: true, send: true }
    const { taken, not_taken } = await receiverState()
    await adminPost('registries/civil/try', asked)
    await until(running, async () => (await receiverState()).not_taken > not_taken || null)
    await page.getByRole('button', { name: 'Let it answer' }).click()
    await page.getByText('It answers.').waitFor()
    await until(running, async () => {
      await adminPost('deliveries/retry', { participant: sender_id })
      return (await receiverState()).taken > taken || null
    })
    await page.getByRole('link', { name: 'Look again' }).click()
    await page.getByText((await receiverState()).last_message_id).waitFor()
    expect([await receiverState(), await wrong()]).toMatchObject([{ answers: true }, []])
    await page.getByRole('button', { name: 'Let it live' }).click()
    await page.getByRole('button', { name: 'Stop the simulation' }).click()
    await page.getByText('The simulation is stopped.').waitFor()
    await page.getByRole('link', { name: 'back to the console' }).click()
    await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor()
    expect(complaints).toEqual([])
  } finally {
    await opened.close()
  }
})

/** Where the demo participant is called back: what came, by the end of its path. */
async function listening() {
  const came: { readonly path: string; readonly body: Answer }[] = []
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    came.push({ path: request.url ?? '', body })
    response.end(JSON.stringify({ message: { ack_status: 'ACK', correlation_id: 'c', timestamp: now() } }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return { came, url: `http://127.0.0.1:${port}`, close: () => server.close() }
}

const now = (): string => new Date().toISOString()

test('the demo participant subscribes in every registry without a filter, and is notified of what is published', async () => {
  const listener = await listening()
  const token = await demoToken(demo)
  const { sender_id } = demo.participant
  for (const { namespace, kind: name, reg_record_type } of demo.registries) {
    const kind = KINDS.find((row) => row.name === name)
    const reg_event_type = kind?.event_types[0]?.name ?? ''
    const header = {
      message_id: randomUUID(),
      message_ts: now(),
      action: 'subscribe',
      sender_id,
      total_count: 1,
      sender_uri: `${listener.url}/${namespace}/on-subscribe`,
    }
    const subscribe_criteria = { reg_event_type, notify_record_type: reg_record_type }
    const item = { reference_id: '1', timestamp: now(), subscribe_criteria }
    const asked = await fetch(`${demo.base_url}/${namespace}/v1.0.0/registry/subscribe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ header, message: { transaction_id: 't', subscribe_request: [item] } }),
    })
    expect([namespace, asked.status]).toEqual([namespace, 200])
    const at = (end: string) => listener.came.find(({ path }) => path === `/${namespace}/${end}`)?.body
    const answer = await until(running, () => at('on-subscribe') ?? null)
    expect(answer.message.subscribe_response[0].subscriptions[0].code).toMatch(/^SUB-/)

    // A record of the first record type, of a new person.
    const [recordType] = kind?.record_types ?? expect.fail(`no kind ${name}`)
    const record =
      [...generate(name, { count: 2_100, seed: 'demo' })]
        .slice(2_000)
        .find((document) => kind !== undefined && recordTypesOf(kind, document)[0] === recordType) ?? {}
    const published = await fetch(`${demo.admin.base_url}/admin/v1/registries/${namespace}/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${demo.admin.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ reg_event_type, record }),
    })
    expect(await published.json()).toEqual({ id: expect.any(Number), matched: 1 })
    const notified = await until(running, () => at('notify') ?? null)
    expect(notified.signature).toMatch(/^namespace=/)
    const shape = kind && makeNotifiedRecordConverter(kind, recordType, { all: true })
    const shown = shape === undefined ? record : shape(JSON.parse(canonicalJson(record)))
    expect(notified.message.notify_event[0].data.reg_records).toEqual(shown)
  }
  listener.close()
})
