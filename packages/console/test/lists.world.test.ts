/** Lists and forms of the console at the widths that people have, and what is done with them. */
import { addRegistry, changeRegistry } from '@rollcall/admin/registries/registries'
import { openSources } from '@rollcall/source/open-sources'
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { makeOffice, officeReader, officeSource } from '../../source/test/office.ts'
import { type BrowsedServer, browsedServer, person } from './browsed-server.ts'
import { CUT, violationsOf } from './faults.ts'
import { LONG, type OperatorPage, operatorPage, pictures } from './in-browser.ts'

const DEMO_PAGE = 'http://127.0.0.1:9'

let browsed: BrowsedServer
let server: BrowsedServer['server']
/** One page for all tests: a new one is a new process of the browser. */
let operator: OperatorPage

beforeAll(async () => {
  browsed = await browsedServer()
  ;({ server } = browsed)
  operator = await operatorPage(browsed.opened.browser, server, 'owner', ['own', 'audit', 'publish'])
})
beforeEach(() => operator.page.setViewportSize({ width: 1280, height: 900 }))
afterAll(() => browsed?.close())

it(
  'no list is cut at 1024 pixels',
  async () => {
    await operator.page.setViewportSize({ width: 1024, height: 800 })
    const cut = () => operator.page.evaluate<unknown[]>(CUT)
    for (const hash of [
      ...['/messages', `/messages/${browsed.message_id}`, '/deliveries', '/mailboxes', '/participants', '/registries'],
      ...['/participants/spmis.example', '/participants/spmis.example/grants/civil', '/registries/civil'],
      ...['/subscriptions', '/events', '/approvals', '/accounts', '/settings', '/settings?view=operators'],
      ...['/settings?view=keys', '/settings?view=limits'],
    ]) {
      await operator.open(hash)
      expect([hash, ...(await cut())]).toEqual([hash, 0])
    }
    await operator.open('/accounts?view=person')
    await operator.page.getByLabel('Identifier type').fill('UIN')
    await operator.page.getByLabel('Identifier', { exact: true }).fill('0012')
    await operator.button('Look').click()
    const looks = operator.page.getByRole('list', { name: 'Data of the person left' })
    await looks.locator('summary').first().click()
    await looks.getByRole('table').waitFor()
    expect(await cut()).toEqual([0])
  },
  LONG,
)

it(
  'an event is published with the mouse where the people are made up, and a demo leads to its own page',
  async () => {
    await operator.open('/events')
    expect(await operator.button('Publish an event').count()).toBe(0)
    await server.database.db.pool.query('update registry set demo = true')
    server.running.show({
      participant: { sender_id: 'spmis.example', client_id: 'c', client_secret: 's' },
      operatorUrl: server.adminUrl,
      linkCommand: '',
      commands: '',
      samples: new Map(),
      demoPage: DEMO_PAGE,
    })
    await operator.page.reload()
    await operator.button('Publish an event').click()
    const dialog = operator.dialog('Publish an event of civil')
    const record = dialog.getByLabel('Record', { exact: true })
    await dialog.getByLabel('Event type').selectOption('Death')
    const elder = JSON.parse(await record.inputValue())
    expect(Number(elder.birth_date.slice(0, 4))).toBeLessThan(1960)
    expect(await dialog.getByLabel('death_date').getAttribute('required')).not.toBeNull()
    await dialog.getByLabel('Event type').selectOption('LiveBirth')
    const made_up = JSON.parse(await record.inputValue())
    expect([made_up.birth_date, made_up.marital_status]).toEqual([undefined, 'S'])
    await dialog.getByLabel('birth_date').fill('2026-11-25')
    await dialog.getByLabel('registration_date').fill('2026-11-26')
    await record.fill('{')
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await operator.page.getByText('The text is no JSON object.').waitFor()
    await record.fill(JSON.stringify({ ...made_up, ...person('0099') }))
    await dialog.getByRole('button', { name: 'Publish' }).click()
    await operator.page.getByText('The event is recorded. Subscriptions that are notified: 0.').waitFor()
    await operator.page.getByRole('table', { name: 'Events' }).getByRole('row').nth(1).waitFor()
    const { rows } = await server.database.db.pool.query(
      "select document::jsonb ->> 'birth_date' as born from r1_person where primary_identifier = '0099'",
    )
    expect(rows).toEqual([{ born: '2026-11-25' }])
    const wide = await pictures(operator.page, 'events-published')
    await server.database.db.pool.query('update participant set demo = true')
    for (const address of ['/events', '/', '/messages', '/participants/spmis.example']) {
      await operator.open(address)
      const link = operator.page.getByRole('link', { name: 'Let it live, break it', exact: true })
      expect([address, await link.getAttribute('href')]).toEqual([address, DEMO_PAGE])
    }
    expect([...wide, ...operator.complaints]).toEqual([])
  },
  LONG,
)

/** Records of a source that is read live are not counted, but their types are known. */
async function expectRecordTypesOfOffice(): Promise<void> {
  const { page: at, button } = operator
  await operator.open('/participants/spmis.example/grants/office')
  await at.getByLabel('Only some of the type Person').waitFor()
  await operator.open('/try')
  await at.getByLabel('Registry', { exact: true }).selectOption('office')
  await expect.poll(() => at.getByLabel('Record type').inputValue()).toBe('Person')
  await button('Build').click()
  await at.getByRole('heading', { name: 'What would be sent' }).waitFor()
}

it(
  'the source of a registry is shown on its page, checked there, and the reason of a check that was stopped stays',
  async () => {
    const { db } = server.database
    const office = await emptyDatabase()
    const sources = openSources(db, process.env)
    const { page: at } = operator
    try {
      await makeOffice(office.connection, [
        { person_no: 1, national_no: 'A1', family_name: 'Okoro', gender: 1, born: '1985-06-12' },
        { person_no: 2, national_no: 'a2', family_name: 'Obi', gender: 9, mobile: '070' },
      ])
      vi.stubEnv('OFFICE_OF_PAGES', await officeReader(office.connection))
      const source = officeSource({ env: 'OFFICE_OF_PAGES' })
      await addRegistry(acting({ db }), { kind: 'civil', namespace: 'office', source })
      await operator.open('/registries/office')
      await at.getByText('Not checked on this page yet').waitFor()
      // It is not known whether there are records, so the primary identifier is not offered.
      await operator.button('Change settings').click()
      const settings = operator.dialog('Settings of the registry')
      await settings.getByLabel('Age of majority').waitFor()
      expect(await settings.getByLabel('Each Person is known by').count()).toBe(0)
      await at.keyboard.press('Escape')
      await at.getByText('in the environment variable OFFICE_OF_PAGES of each server').waitFor()
      const wide = [...(await pictures(at, 'source', true))]
      await operator.button('Check').click()
      await at.getByRole('table', { name: 'What was not understood' }).getByRole('row').nth(1).waitFor()
      await at.getByText('The value in national_no is not written as it compares: no question finds it.').waitFor()
      wide.push(...(await pictures(at, 'source-checked', true)))
      const indexes = at.getByRole('heading', { name: 'Indexes' })
      expect([await at.getByRole('button', { name: 'Declare an index' }).count(), await indexes.count()]).toEqual([0, 0])
      await at.setViewportSize({ width: 1024, height: 800 })
      expect(await at.evaluate<unknown[]>(CUT)).toEqual([0])
      await expectRecordTypesOfOffice()
      const { Person } = source.records as { Person: object }
      const records = { Person: { ...Person, changed: 'person_no' } }
      const copied = { ...source, way: 'mirror', follow: 'poll', records }
      await changeRegistry(acting({ db }), { namespace: 'office', source: copied })
      await operator.open('/registries/office')
      await at.reload()
      await at.getByText('no node follows it yet').waitFor()
      // The columns of copies are filled and indexed as those of other records.
      await indexes.waitFor()
      await at.getByText('The registry answers 503 until all records are copied.').waitFor()
      wide.push(...(await pictures(at, 'source-copied', true)))
      vi.stubEnv('OFFICE_OF_PAGES', 'postgresql://nobody@127.0.0.1:1/x')
      await operator.button('Check').click()
      await at.getByRole('main').getByText('The check was stopped').waitFor()
      const reason = 'there is no answer from a database at the address in OFFICE_OF_PAGES (ECONNREFUSED)'
      await at.getByRole('main').getByText(reason).waitFor()
      wide.push(...(await pictures(at, 'source-failed', true)))
      expect([...wide, ...operator.complaints.splice(0), ...(await violationsOf(at))]).toEqual([])
      operator.refused.length = 0
    } finally {
      vi.unstubAllEnvs()
      await db.pool.query("delete from registry where namespace = 'office'")
      await sources.close()
      await office.drop()
    }
  },
  LONG,
)

it('on a small screen the outcome comes second and stays, and a table that goes on says so', async () => {
  const { page: at } = operator
  await at.setViewportSize({ width: 1024, height: 900 })
  await operator.open('/messages')
  const table = at.getByRole('group', { name: 'Messages' })
  expect((await table.getByRole('columnheader').allTextContents()).slice(0, 2)).toEqual(['Time', 'Outcome'])
  expect(await table.getAttribute('data-more')).toBeNull()
  await table.getByRole('columnheader').evaluateAll((all) => {
    for (const one of all) one.style.minWidth = '20rem'
  })
  await at.setViewportSize({ width: 900, height: 900 })
  await expect.poll(() => table.getAttribute('data-more')).toBe('end')
  await table.evaluate((element) => element.scrollTo({ left: element.scrollWidth }))
  await expect.poll(() => table.getAttribute('data-more')).toBe('start')
  const [box, cell] = [await table.boundingBox(), await table.getByText('Outcome').boundingBox()]
  expect(cell?.x).toBeGreaterThanOrEqual(box?.x ?? Infinity)
  // The cell that stays lies above the link of its row, and does not take its click.
  await table.getByText('succeeded').first().click({ force: true })
  await at.getByRole('heading', { name: 'Message', level: 1 }).waitFor()
  expect(operator.complaints).toEqual([])
})

it('what a grant shows by another name is ticked, and cannot be taken away by its own', async () => {
  await server.participant('names.example', {}, { see: ['identifier', 'name'] })
  await operator.open('/participants/names.example/grants/civil')
  const surname = operator.page.getByLabel('May see surname')
  expect([await surname.isChecked(), await surname.isDisabled()]).toEqual([true, true])
  expect(await operator.page.getByLabel('May see sex').isChecked()).toBe(false)
  // The row of a member that is no attribute goes with its tick.
  await operator.page.getByLabel('May see name', { exact: true }).click()
  expect([await surname.isChecked(), await surname.isDisabled()]).toEqual([false, false])
})

it('what a grant says beside names is a form: whom it finds, emergencies, times', async () => {
  await server.participant('form.example')
  await operator.open('/participants/form.example/grants/civil')
  const { page: at, button, dialog } = operator
  await at.getByLabel('Only some of the type Person').check()
  await at.getByLabel('Attribute', { exact: true }).selectOption('sex')
  await at.getByLabel('Value', { exact: true }).fill('F')
  await at.getByLabel('Emergencies', { exact: true }).check()
  await at.getByLabel('Emergencies, a day').fill('3')
  await at.getByLabel('Valid until').fill('2099-01-01T00:00')
  expect(await pictures(at, 'grant-form', true)).toEqual([])
  await at.setViewportSize({ width: 1280, height: 900 })
  await button('Grant').click()
  const confirm = dialog('Grant this to form.example in civil')
  await confirm.getByRole('button', { name: 'Grant', exact: true }).click()
  await confirm.waitFor({ state: 'detached' })
  const { rows } = await server.database.db.pool.query(
    `select terms from participant_grant join participant on participant.id = participant
      where sender_id = 'form.example' order by participant_grant.id desc limit 1`,
  )
  expect(rows[0]?.terms).toMatchObject({
    rows: { Person: { sex: { $eq: 'F' } } },
    emergency: { see: [], items_per_day: 3 },
    valid_until: '2099-01-01T00:00:00.000Z',
  })
  expect(operator.complaints).toEqual([])
})

it('the registry of an address is chosen in the form before and after the choices are loaded, and the next search keeps it', async () => {
  const { page: at } = operator
  await operator.open('/deliveries?namespace=civil')
  await addRegistry(acting({ db: server.database.db }), { kind: 'social', namespace: 'aid' })
  const registry = at.getByLabel('Registry', { exact: true })
  const choices = '**/admin/v1/registries'
  await at.route(choices, async (route) => {
    await registry.waitFor()
    expect(await registry.inputValue()).toBe('civil')
    await route.continue()
  })
  await at.reload()
  await expect.poll(() => registry.locator('option').allTextContents()).toEqual(['all', 'aid', 'civil'])
  expect(await registry.inputValue()).toBe('civil')
  await at.unroute(choices)
  await at.getByLabel('Participant', { exact: true }).fill('spmis.example')
  await operator.button('Search').click()
  await at.waitForURL(/#\/deliveries\?namespace=civil&participant=spmis\.example$/)
  expect(operator.complaints).toEqual([])
})
