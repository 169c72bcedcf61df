import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/sandbox.md')
const { folder, run, serve } = shell(false)

/** A port that nobody listens on; the page has 8090. */
async function freePort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return String(port)
}

test('docs/sandbox.md runs as it stands: both sides of the check pass', { timeout: 600_000 }, async () => {
  const port = await freePort()
  const printed: string[] = []
  for (const block of blocks) {
    if (block.includes('127.0.0.1:8080')) await serve()
    printed.push(await run(block.replaceAll('8090', port)))
  }
  const all = printed.join('')
  expect(all).toMatch(/^added civil-test, .*; a sandbox with 200 synthetic records$/m)
  expect(all).toMatch(/^civil-test +civil .* sandbox /m)
  expect(all).toMatch(/^5 events in all$/m)
  const steps = ['token', 'search', 'callback', 'retry', 'subscribe', 'notification', 'unsubscribe']
  for (const step of steps) {
    // The participant's side asks for its token within the search; the operator's side has a step for it.
    if (step !== 'token') expect(all).toMatch(new RegExp(`^passed {3}${step} +sent: .*; came: `, 'm'))
    expect(all).toMatch(new RegExp(`^passed {3}${step} +(?!sent: )`, 'm'))
  }
  expect(all).toMatch(/^every step has passed$/m)
  expect(all).toMatch(/^check in civil-test at .* by version \d/m)
  const promoted = await readFile(join(folder(), 'live-credentials.txt'), 'utf8')
  expect(promoted).toMatch(/^new\.example\.org is live;/)
})
