import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/configuration.md')
const { folder, run } = shell(false)

test('docs/configuration.md runs as it stands', { timeout: 600_000 }, async () => {
  let all = ''
  for (const block of blocks) all += await run(block)
  expect(all).toMatch(/^\+ registries\.civil$/m)
  expect(all).toMatch(/; nothing was changed$/m)
  expect(all).toMatch(/^health\.example\.org: client_id \w+, client_secret [\w-]{43}$/m)
  expect(all).toMatch(/^everything is as the file says$/m)
  const exported = parse(await readFile(join(folder(), 'exported.yaml'), 'utf8'))
  const { keys, rate_limit } = exported.participants['health.example.org']
  expect({ kid: keys[0].kid, rate_limit }).toEqual({ kid: 'sig-2026', rate_limit: 20 })
  const schema = JSON.parse(await readFile(join(folder(), 'rollcall.schema.json'), 'utf8'))
  expect(Object.keys(schema.properties)).toEqual(['version', 'purposes', 'consent_authorities', 'registries', 'participants'])
})

test('the page explains every member of a participant', async () => {
  const { Configuration } = await import('@rollcall/admin/configuration/apply')
  const page = await readFile(new URL('../../../docs/configuration.md', import.meta.url), 'utf8')
  const [entry] = Object.values(Configuration.properties.participants.patternProperties)
  const names = Object.keys(entry?.properties ?? {})
  expect(names).toContain('grants')
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})
