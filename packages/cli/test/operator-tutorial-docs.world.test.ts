import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const [files = '', commands = '', explains = '', ...others] = await shownBlocks('docs/tutorial-operator.md')
const { run } = shell(false)

test('docs/tutorial-operator.md runs as it stands, up to the server', { timeout: 600_000 }, async () => {
  expect(others).toEqual([])
  const [, beforeServing = ''] = /^(.*)\nnpx rollcall serve$/s.exec(commands) ?? []
  expect(beforeServing).toContain('npx rollcall registry add')
  const stdout = await run(`${files}\n${beforeServing}`)
  expect(stdout).toContain('client_secret')
  expect(stdout).toContain('1000 of 1000 records are in civil')
  expect(stdout).not.toMatch(/ broken /)
  expect(await run(explains)).toContain('surname')
})
