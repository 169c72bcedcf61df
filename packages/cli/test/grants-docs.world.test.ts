import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { GRANT_TEMPLATES } from '@rollcall/admin/grants/grants'
import { GrantTerms } from '@rollcall/core/model/grant'
import { expect, test } from 'vitest'
import { rollcall } from './command.ts'
import { commandDatabase } from './command-database.ts'
import { shownBlocks } from './shown-commands.ts'

const page = await readFile(new URL('../../../docs/grants.md', import.meta.url), 'utf8')
const blocks = await shownBlocks('docs/grants.md')
const { env, home } = await commandDatabase()

/** Runs a block without a shell, which would take a process for each command: files, and commands one by one. */
async function run(block: string): Promise<string> {
  const files = /^cat > (\S+) <<'END'\n(.*?)^END\n/gms
  for (const [, name = '', text = ''] of block.matchAll(files)) await writeFile(join(home.path, name), text)
  const printed: string[] = []
  for (const line of block.replaceAll(files, '').split('\n')) {
    const [, command = '', target] = /^rollcall ([^>]*?)(?: > (\S+))?$/.exec(line) ?? []
    expect(command, line).not.toBe('')
    const words = [...command.matchAll(/'[^']*'|\S+/g)].map(([word]) => word.replaceAll("'", ''))
    const { code, stdout, stderr } = await rollcall(words, env, '', home.path)
    expect({ line, code, stderr }).toEqual({ line, code: 0, stderr: '' })
    if (target !== undefined) await writeFile(join(home.path, target), stdout)
    printed.push(stdout)
  }
  return printed.join('')
}

test('docs/grants.md runs as it stands', { timeout: 600_000 }, async () => {
  let all = ''
  for (const block of blocks) all += await run(block)
  expect(all).toContain('Nothing is granted yet')
  expect(all).toMatch(/^identifier types +UIN, BRN$/m)
  expect(all).toMatch(/^may see: Person +surname, given_name, birth_date$/m)
  expect(all).toMatch(/^may see also +identifier$/m)
  expect(all).toMatch(/^may see: Person +death_date$/m)
  expect(all).toMatch(/^in an emergency +may see name, sex, address, parents as well, of 5 people a day$/m)
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
