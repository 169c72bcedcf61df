import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/attributes-and-indexes.md')
const { folder, run } = shell(false)

test('docs/attributes-and-indexes.md runs as it stands', { timeout: 600_000 }, async () => {
  let all = ''
  for (const block of blocks) all += await run(block)
  expect(all).toContain('the time zone of civil is Asia/Kathmandu')
  expect(all).toMatch(/^CEDULA +code +Member +registry +DocumentNo +\[0-9\]\{8,10\}$/m)
  expect(all).toContain('every Member known by its CEDULA')
  expect(all).toContain('removed the identifier type HEALTH_NO from civil')
  expect(all).toContain('added street of Person in civil; its records have no value in it yet')
  expect(all).toContain('civil: filled Person.street')
  expect(all).toContain('no declared index is missing')
  expect(all).toContain('civil: built r1_person_marital_status_index')
  expect(all).toMatch(/^Asked of Person\n {2}and\n {4}marital_status eq \?\n {4}postal_code starts_with \?$/m)
  expect(all).toContain('2 of 2 records are deleted from civil')
  const explained = JSON.parse(await readFile(join(folder(), 'explained.json'), 'utf8'))
  expect(explained).toMatchObject({ record_type: 'Person', values: null, advice: [] })
  expect(explained.plan.text).toContain('actual')
})
