import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/consent.md')
const { folder, run } = shell(false)

test('docs/consent.md runs as it stands', { timeout: 600_000 }, async () => {
  const all = blocks.map(run).join('')
  expect(all).toContain('https://consent.example.org may sign consents with ')
  expect(all.match(/^withdrawn at /gm)).toHaveLength(3)
  expect(all.match(/^stopped {2}0 subscriptions, 0 notifications, 0 answers on their way$/gm)).toHaveLength(3)
  expect(all).toMatch(/^receipt {2}[\w-]+\.[\w-]+\.[\w-]+$/m)
  expect(all).toContain('1 withdrawals do not count any more')
  const [header = '', payload = ''] = (await readFile(join(folder(), 'consent.jws'), 'utf8')).split('.')
  const part = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
  expect(part(header)).toEqual({ alg: 'EdDSA', typ: 'consent+jwt' })
  expect(part(payload)).toMatchObject({ iss: 'https://consent.example.org', jti: 'c-81' })
})
