import { reportAccess } from '@rollcall/admin/audit/access-report'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { openBrowser, type TestBrowser } from '../../../../admin/test/browser.ts'
import { auditing, personAs } from '../../../../settings/test/audit.ts'
import { testServer } from '../../server.ts'

const MARKUP = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
const HOSTILE = [MARKUP, '</td></table><h1>Other</h1>', '"\'&lt;`$\u202e\u0000', 'style="x"']

const server = await testServer()
let chromium: TestBrowser
beforeAll(async () => {
  chromium = await openBrowser()
}, 120_000)
afterAll(async () => {
  await chromium.close()
  await server.close()
})
const { deps, addEntry } = auditing(server.database)
await server.registry('civil', [])
await server.participant('health.example')
await server.database.db.pool.query(`update participant set name = $1 where sender_id = 'health.example'`, [`Health ${MARKUP}`])
const now = () => new Date('2026-11-22T10:00:00Z')
const report = (value: string, period: { from?: string; to?: string } = {}) =>
  reportAccess(acting({ ...deps, now }), { type: 'UIN', value, ...period })

describe('the answer to a person', () => {
  it('says in plain words who has seen, written, or asked', async () => {
    await addEntry(
      {
        participant: 'health.example',
        purpose: 'eligibility',
        basis: 'consent',
        shown: {
          Person: [...['@id', 'identifier.identifier_type', 'identifier.identifier_value'], ...['name.surname', 'birth_date']],
        },
      },
      [personAs('seen', 'UIN:1')],
    )
    await addEntry({ kind: 'operator', participant: null, operator: 'secret-clerk', note: 'record get' }, [
      personAs('seen', 'UIN:1'),
    ])
    await addEntry({ participant: 'unknown.example', emergency: true, records: 0, shown: {} }, [personAs('asked', 'UIN:1')])
    const { report: facts } = await report('1', { from: '2020-01-01T00:00:00Z' })
    expect(facts).toMatchObject({
      made_at: '2026-11-22T10:00:00.000Z',
      from: '2020-01-01T00:00:00Z',
      to: null,
      identifier: { type: 'UIN', value: '1' },
      seen: [
        {
          who: `Health ${MARKUP}`,
          sender_id: 'health.example',
          registry: 'civil',
          what: 'A question was answered',
          basis: 'A consent, as the institution states',
          purpose: 'eligibility',
          data: ['birth date', 'identifier', 'name / surname'],
        },
        { who: 'An employee of the registry, or a program of it', basis: 'The work of the registry' },
      ],
      written: [],
      asked: [
        { who: 'unknown.example', basis: 'An emergency, as the institution states', data: [] },
        { what: 'The data were looked at, or changed' },
      ],
    })
    expect(facts.months.seen.map(({ sentence }) => sentence).sort()).toEqual([
      expect.stringMatching(/^An employee of the registry, or a program of it, 1 look or change, last on \d+ \w+ 20\d\d: name$/),
      expect.stringMatching(/^Health .*, 1 search, last on \d+ \w+ 20\d\d: birth date, identifier, name$/),
    ])
    expect(JSON.stringify(facts)).not.toContain('secret-clerk')
    expect(JSON.stringify(facts)).not.toContain('@id')
  })

  it('is a page that shows hostile values as text, runs nothing and loads nothing', async () => {
    for (const text of HOSTILE) {
      await addEntry({ purpose: text, participant: text, registry: text, shown: { Person: [text] } }, [
        personAs('seen', `UIN:666`),
      ])
    }
    const { html } = await reportAccess(acting({ ...deps, now }), { type: 'UIN', value: '666' })
    expect(html).not.toMatch(/<script|<img|\u202e|\0/)
    const page = await chromium.browser.newPage()
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.setContent(html, { waitUntil: 'load' })
    expect(await page.title()).toBe('Who has seen your data')
    expect(await page.locator('h1').allTextContents()).toEqual(['Who has seen your data'])
    expect(await page.locator('h2').allTextContents()).toEqual([
      'Who has seen data about you',
      'Who has written data about you',
      'Who has asked about you without seeing data',
    ])
    const cells = await page.locator('table').first().locator('tbody tr').first().locator('td').allTextContents()
    expect(cells[1]).toBe(HOSTILE.at(-1))
    expect(cells[3]).toContain(HOSTILE.at(-1))
    expect(await page.locator('tbody').first().locator('tr').last().locator('td').nth(1).textContent()).toBe(MARKUP)
    expect(await page.locator('body *').evaluateAll((all) => [...new Set(all.map((one) => one.tagName))])).toEqual([
      ...['H1', 'P', 'H2', 'UL', 'LI', 'H3', 'TABLE', 'THEAD', 'TR', 'TH', 'TBODY', 'TD'],
    ])
    expect(asked.filter((url) => !url.startsWith('about:'))).toEqual([])
    await page.close()
  })

  it('has no cell that a spreadsheet takes for a formula', async () => {
    const participant = '=HYPERLINK("https://evil.example","Click")'
    await addEntry({ participant, shown: { Person: ['@type'] } }, [personAs('seen', 'UIN:667')])
    const { html } = await report('667')
    expect(html).toContain('<td>&#39;=HYPERLINK(')
    expect(html).not.toMatch(/<(?:td|li)>[=+@-]/)
  })

  it('breaks no word, begins with the newest, and lists no data twice in a row', async () => {
    const shown = { Person: ['identifier.identifier_type', 'registration_date', 'address.sub_region_code'] }
    for (const purpose of ['first', 'second', 'third']) {
      await addEntry({ participant: 'social-assistance.region.example', purpose, shown }, [personAs('seen', 'UIN:777')])
    }
    const { html, report: facts } = await report('777')
    expect(facts.months.seen.map(({ looks, entries }: { looks: number; entries?: unknown }) => [looks, entries])).toEqual([
      [3, undefined],
    ])
    const page = await chromium.browser.newPage({ viewport: { width: 700, height: 900 } })
    await page.setContent(html, { waitUntil: 'load' })
    const cells = page.locator('tbody').first().locator('td')
    expect(await cells.nth(3).textContent()).toContain('third')
    expect((await cells.allTextContents()).filter((text) => text === 'The same as above')).toHaveLength(2)
    const broken = await cells.evaluateAll((all) =>
      all.flatMap((cell) => {
        const text = cell.firstChild
        return [...(text?.textContent ?? '').matchAll(/\S+/g)].flatMap(({ 0: word, index }) => {
          if (text === null) return []
          const range = cell.ownerDocument.createRange()
          range.setStart(text, index)
          range.setEnd(text, index + word.length)
          return range.getClientRects().length > 1 && !/[-/]/.test(word) ? [word] : []
        })
      }),
    )
    expect(broken).toEqual([])
    await page.close()
  })

  it('says so where there is nothing, and until when it looked', async () => {
    const { html } = await report('nobody', { to: '2021-05-01T00:00:00Z' })
    expect(html).toContain('Nobody has seen data about you in this time.')
    expect(html).toContain('It lists what is recorded until 2021-05-01 00:00:00 UTC.')
    const { html: all } = await report('nobody')
    expect(all).toContain('It lists everything that is recorded.')
  })
})
