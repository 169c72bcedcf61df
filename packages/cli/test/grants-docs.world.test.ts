import { readFile } from 'node:fs/promises'
import { GRANT_TEMPLATES } from '@rollcall/server/admin/grants'
import { expect, test } from 'vitest'
import { GrantTerms } from '../../server/src/model/grant.ts'
import { shell, shownBlocks } from './shown-commands.ts'

const page = await readFile(new URL('../../../docs/grants.md', import.meta.url), 'utf8')
const blocks = await shownBlocks('docs/grants.md')
const { run } = shell(false)

test('docs/grants.md runs as it stands', { timeout: 600_000 }, () => {
  const all = blocks.map(run).join('')
  expect(all).toContain('Nothing is granted yet')
  expect(all).toMatch(/^identifier types +UIN, BRN$/m)
  expect(all).toMatch(/^may see: Person +surname, given_name, birth_date$/m)
  expect(all).toMatch(/^may see also +identifier$/m)
  expect(all).toMatch(/^may see: Person +death_date$/m)
  expect(all).toMatch(/^event types +Death$/m)
  expect(all).toContain('no grant ends within 30 days')
  expect(all).toContain('2 grants are revoked: health.example.org may do nothing in civil')
  expect(all).toMatch(/^without_grant +weak +health\.example\.org may do nothing in any registry/m)
})

test('the page explains every member of a grant and every template', () => {
  const members = Object.keys(GrantTerms.properties)
  expect(members.length).toBeGreaterThan(15)
  expect(members.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
  expect(GRANT_TEMPLATES.filter(({ name }) => !page.includes(`| \`${name}\` |`))).toEqual([])
})
