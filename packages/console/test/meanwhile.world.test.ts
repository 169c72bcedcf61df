/** The console while others act and its page is open, and its pages for an operator of some registries. */
import { setGrant } from '@rollcall/admin/grants/grant-changes'
import { explainGrant } from '@rollcall/admin/grants/grants'
import { addOperator } from '@rollcall/admin/operators/operators'
import { addIdentifierType, changeIdentifierType, listIdentifierTypes } from '@rollcall/admin/registries/identifier-types'
import { changeRegistry, listRegistries } from '@rollcall/admin/registries/registries'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { type BrowsedServer, browsedServer } from './browsed-server.ts'
import { type OperatorPage, operatorPage, signIn, strangerPage } from './in-browser.ts'

let browsed: BrowsedServer
let server: BrowsedServer['server']
let operator: OperatorPage

beforeAll(async () => {
  browsed = await browsedServer()
  ;({ server } = browsed)
  operator = await operatorPage(browsed.opened.browser, server, 'owner', ['own', 'audit'])
})
afterAll(() => browsed?.close())

const deps = () => acting(server.context)

it('a grant that another operator has narrowed since the form was opened is not granted as it was', async () => {
  const named = { sender_id: 'narrowed.example', namespace: 'civil' }
  await server.participant(named.sender_id, {}, { see: ['name', 'birth_date'] })
  const { page: at, button, dialog } = operator
  await operator.open('/participants/narrowed.example/grants/civil')
  await at.getByLabel('Valid until').fill('2099-01-01T00:00')
  const { terms } = await explainGrant(deps(), named)
  await setGrant(deps(), { ...named, terms: { ...terms, see: ['name'] } })
  await button('Grant').click()
  await dialog('Grant this to narrowed.example in civil').getByRole('button', { name: 'Grant', exact: true }).click()
  await at.getByText('The grant was changed since this form was opened. The form now has the terms that are in force.').waitFor()
  expect((await explainGrant(deps(), named)).terms).toMatchObject({ see: ['name'] })
  await expect.poll(() => at.getByLabel('May see birth_date').isChecked()).toBe(false)
  expect(await at.getByLabel('Valid until').inputValue()).toBe('')
  // The terms that are shown now can be changed.
  await at.getByLabel('Valid until').fill('2099-01-01T00:00')
  await button('Grant').click()
  await dialog('Grant this to narrowed.example in civil').getByRole('button', { name: 'Grant', exact: true }).click()
  await at.getByText('Granted. Suspended subscriptions: 0.').waitFor()
  const after = await explainGrant(deps(), named)
  expect(after.terms).toMatchObject({ see: ['name'], valid_until: '2099-01-01T00:00:00.000Z' })
  expect(operator.complaints).toEqual([])
})

it('the settings of a registry that another operator has changed since the form was opened stay', async () => {
  const { button, dialog } = operator
  const settings = async () => (await listRegistries(deps(), {})).find(({ namespace }) => namespace === 'civil')
  await operator.open('/registries/civil')
  await button('Change settings').click()
  const form = dialog('Settings of the registry')
  await form.getByLabel('Web origins').fill('https://app.example')
  await changeRegistry(deps(), { namespace: 'civil', majority_age: 21 })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  expect(await settings()).toMatchObject({ web_origins: ['https://app.example'], majority_age: 21 })
  // A form in which nothing was changed is no fault.
  await button('Change settings').click()
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  expect(operator.complaints).toEqual([])
})

it('the names of an identifier type that another operator has added since the form was opened stay', async () => {
  const { page: at, dialog } = operator
  // In civil an import is under way, beside which no type is added.
  await server.registry('social')
  await addIdentifierType(deps(), { namespace: 'social', name: 'HEALTH_NO' })
  await operator.open('/registries/social')
  const types = at.getByRole('table', { name: 'Identifier types of the registry' })
  await types.getByRole('row').filter({ hasText: 'HEALTH_NO' }).getByRole('button', { name: 'Change' }).click()
  const form = dialog('Change HEALTH_NO')
  await form.getByLabel('Forms of its values').fill('[0-9]{13}')
  await changeIdentifierType(deps(), { namespace: 'social', name: 'HEALTH_NO', aliases: ['HN'] })
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  const stored = await listIdentifierTypes(deps(), { namespace: 'social' })
  expect(stored.find(({ name }) => name === 'HEALTH_NO')).toMatchObject({ patterns: ['[0-9]{13}'], aliases: ['HN'] })
  expect(operator.complaints).toEqual([])
})

it('an operator of one registry sees the pages of that registry', async () => {
  const { token } = await addOperator(deps(), { name: 'bound', roles: ['audit'], registries: ['civil'] })
  const bound = await strangerPage(browsed.opened.browser, server)
  const { page: at } = bound
  await bound.open('/')
  await signIn(bound, token)
  await at.getByRole('heading', { name: 'Needs attention' }).waitFor()
  bound.refused.splice(0)
  await bound.open(`/messages/${browsed.message_id}`)
  await at.getByRole('heading', { name: 'Timeline' }).waitFor()
  await bound.button('Show the content').click()
  await at.getByLabel('Reason').fill('complaint 12')
  await bound.button('Log and show').click()
  await at.getByText('search_request').waitFor()
  for (const list of ['/messages', '/deliveries', '/mailboxes', '/subscriptions', '/accounts']) {
    await bound.open(list)
    expect([list, await at.getByLabel('Registry', { exact: true }).inputValue()]).toEqual([list, 'civil'])
  }
  expect([bound.refused, bound.complaints]).toEqual([[], []])
  await at.context().close()
})

it('the report on a person is about the person whose entries are shown', async () => {
  const { page: at, button } = operator
  await operator.open('/accounts?view=person')
  await at.getByLabel('Identifier type').fill('UIN')
  await at.getByLabel('Identifier', { exact: true }).fill('0012')
  await button('Look').click()
  await at.getByRole('heading', { name: 'Answer to the person' }).waitFor()
  await at.getByLabel('Identifier', { exact: true }).fill('0013')
  const asked = at.waitForRequest('**/admin/v1/accounts/report')
  await button('Download the data (JSON)').click()
  expect((await asked).postDataJSON()).toEqual({ type: 'UIN', value: '0012' })
  expect(operator.complaints).toEqual([])
})

it('a search in the audit log that ended before the oldest entry goes on with a button', async () => {
  const { page: at, button } = operator
  const to = '2026-01-01T12:34:56.789Z'
  const asked: (string | null)[][] = []
  await at.route('**/admin/v1/accounts?*', async (route) => {
    const { searchParams } = new URL(route.request().url())
    asked.push([searchParams.get('participant'), searchParams.get('to')])
    // The page may ask again for what it shows: the answer depends on the question alone.
    if (searchParams.get('to') !== null) return route.fulfill({ json: [] })
    return route.fulfill({ status: 409, json: { errors: [{ code: 'err.request.conflict', message: `go on with to=${to}` }] } })
  })
  await operator.open('/accounts?participant=rare.example')
  await button('Look through older entries').click()
  await at.getByText('Nothing matches').waitFor()
  expect([asked[0], asked.at(-1)]).toEqual([
    ['rare.example', null],
    ['rare.example', to],
  ])
  // The field shows minutes. A search for something else must not leave out the rest of that minute.
  await at.getByLabel('Participant', { exact: true }).fill('other.example')
  await button('Search').click()
  await expect.poll(() => asked.at(-1)).toEqual(['other.example', to])
  await at.unroute('**/admin/v1/accounts?*')
  expect(operator.complaints).toEqual([])
})

it('limits of which only some were saved are shown as they are, and the notice says so', async () => {
  await server.participant('limits.example')
  const { page: at, button, dialog } = operator
  await operator.open('/participants/limits.example')
  await button('Change limits').click()
  const form = dialog('Limits of limits.example')
  await form.getByLabel('Requests a second').fill('7')
  await form.getByLabel('Subscriptions at most').fill('1.5')
  await form.getByRole('button', { name: 'Save' }).click()
  await at.getByText('The limits of requests are saved. The limit of subscriptions is not:').waitFor()
  await form.getByRole('button', { name: 'Back' }).click()
  await at.getByText('7', { exact: true }).waitFor()
  expect(operator.complaints).toEqual([])
})

it('a token is made only when its registries could be chosen', async () => {
  const { page: at, button, dialog } = operator
  let isAnswering = false
  const all = '**/admin/v1/registries'
  await at.route(all, (route) => (isAnswering ? route.continue() : route.fulfill({ status: 400, json: { errors: [] } })))
  await at.goto('about:blank')
  await operator.open('/settings?view=operators')
  await button('Add a token').click()
  const form = dialog('Add a token')
  await form.getByLabel('Name').fill('vendor')
  await form.getByRole('checkbox', { name: 'read' }).first().check()
  await form.getByText('HTTP 400').waitFor()
  const make = form.getByRole('button', { name: 'Make the token' })
  expect(await make.isDisabled()).toBe(true)
  isAnswering = true
  await form.getByRole('button', { name: 'Try again' }).click()
  await form.getByLabel('civil').check()
  expect(await make.isDisabled()).toBe(false)
  await at.unroute(all)
  expect(operator.complaints).toEqual([])
})

it('a page follows who is signed in, when another operator has signed in beside it', async () => {
  const first = await operatorPage(browsed.opened.browser, server, 'first', ['own'])
  const { token } = await addOperator(deps(), { name: 'second', roles: ['read'] })
  await first.open('/settings')
  await first.page.getByRole('link', { name: 'Operators', exact: true }).waitFor()
  await first.page.evaluate(async (body) => {
    const headers = { 'Rollcall-Console': '1', 'Content-Type': 'application/json' }
    await fetch('/admin/v1/session', { method: 'POST', headers, body })
  }, JSON.stringify({ token }))
  await first.page.evaluate('dispatchEvent(new Event("visibilitychange"))')
  await first.button('Signed in as second').waitFor()
  expect(await first.page.getByRole('link', { name: 'Operators', exact: true }).count()).toBe(0)
  expect(first.complaints).toEqual([])
  await first.page.context().close()
})
