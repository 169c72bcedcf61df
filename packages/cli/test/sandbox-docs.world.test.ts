import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/sandbox.md')
const { run } = shell(false)

test('docs/sandbox.md runs as it stands', { timeout: 600_000 }, async () => {
  const all = blocks.map(run).join('')
  expect(all).toMatch(/^added civil-test, .*; a sandbox with 200 synthetic records$/m)
  expect(all).toMatch(/^civil-test +civil .* sandbox /m)
  expect(all).toMatch(/^5 events in all$/m)
})
