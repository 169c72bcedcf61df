import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/sandbox.md')
const { run } = shell(false)

test('docs/sandbox.md runs as it stands', { timeout: 600_000 }, async () => {
  const all = blocks.map(run).join('')
  expect(all).toMatch(/^added civil-test, .*; a sandbox with 200 synthetic records$/m)
  expect(all).toMatch(/^civil-test +civil .* sandbox /m)
  expect(all).toMatch(/^5 events in all$/m)
  expect(all).toMatch(/^missing {2}token {2}.*no request was accepted/m)
  expect(all).toMatch(/^the check has not passed$/m)
  expect(all).toMatch(/^check in civil-test at .* by version \d/m)
  expect(all).toMatch(/^not yet$/m)
})
