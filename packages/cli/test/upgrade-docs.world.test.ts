import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/upgrade.md')
const { run } = shell(false)

test('docs/upgrade.md runs as it stands', { timeout: 600_000 }, async () => {
  const printed: string[] = []
  for (const block of blocks) printed.push(await run(block))
  const [migrated = '', ...rest] = printed
  expect(migrated).toMatch(/^ran 0001-directory, .*; 0 registries$/m)
  expect(rest).toHaveLength(2)
  expect(rest.at(-1)).toMatch(/^nothing is removed; --yes removes civil with:$.*^removed civil, with:$/ms)
})
