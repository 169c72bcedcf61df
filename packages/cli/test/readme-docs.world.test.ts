import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('README.md')
const at = blocks.findIndex((block) => block.includes('npx rollcall registry add'))
const [commands = '', files = ''] = blocks.slice(at)
const { run } = shell(false)

test('"Run it in production" of the README runs as it stands, up to the server', { timeout: 600_000 }, () => {
  const [, beforeServing = ''] = /^(.*)\nnpx rollcall serve$/s.exec(commands) ?? []
  expect(beforeServing).toContain('npx rollcall registry add')
  const stdout = run(`${files}\n${beforeServing}`)
  expect(stdout).toContain('client_secret')
  expect(stdout).toContain('1000 of 1000 records are in civil')
  expect(stdout).not.toMatch(/ broken /)
})
