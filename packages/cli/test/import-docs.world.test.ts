import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { kindNamed } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { readColumnMapping } from '../../import/src/column-mapping.ts'
import { DATE_TOKENS } from '../../import/src/date-format.ts'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/import.md')
const page = await readFile(new URL('../../../docs/import.md', import.meta.url), 'utf8')
const { folder, run, serve } = shell(false)

test('docs/import.md runs as it stands', { timeout: 600_000 }, async () => {
  const printed: string[] = []
  let proposed = ''
  for (const block of blocks) {
    if (block.includes('127.0.0.1:8080')) await serve()
    printed.push(await run(block))
    if (block.includes('mapping propose')) proposed = await readFile(join(folder(), 'columns.yaml'), 'utf8')
  }
  const all = printed.join('')
  expect(all).toContain('added civil, a civil registry that calls itself civil.rollcall, with every Person known by its NID')
  expect(all).toMatch(/^2 of 2 records are in civil: 2 new, 0 replaced /m)
  expect(all).toContain('Asha')
  expect(all).toMatch(/^dry run, nothing is written: 2 of 2 records can be imported into civil /m)
  expect(all).toMatch(/^read as CSV in utf-8, with commas between cells, with a header line$/m)
  for (const [, shown = ''] of page.matchAll(/```yaml\n(.*?)\n```/gs)) {
    for (const part of shown.split('\n\n')) expect(proposed).toContain(part)
  }
})

test('its mappings are mappings', () => {
  const civil = kindNamed('civil')
  if (civil === undefined) throw new Error('there is no kind civil')
  const shown = [...page.matchAll(/```json\n(.*?)\n```/gs)].map(([, block]) => JSON.parse(block ?? ''))
  expect(shown.length).toBeGreaterThan(0)
  for (const mapping of shown) readColumnMapping(mapping, { kind: civil, recordTypes: civil.record_types })
})

test('it explains every token of a date format', () => {
  expect(Object.keys(DATE_TOKENS).filter((token) => !page.includes(`\`${token}\``))).toEqual([])
})
