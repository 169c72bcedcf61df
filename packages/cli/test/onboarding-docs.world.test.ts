import { createPrivateKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_SIGNATURE_PROFILE, importSigningKey, type Jwk, sign } from '@rollcall/protocol'
import { expect, test } from 'vitest'
import { shell, shownBlocks } from './shown-commands.ts'

const blocks = await shownBlocks('docs/onboarding.md')
const { folder, run, serve } = shell(true)

/** The message that the participant sends when it is asked for one. */
async function signedMessage(): Promise<string> {
  const pem = await readFile(join(folder(), 'private-key.pem'))
  const privateKey = await importSigningKey(createPrivateKey(pem).export({ format: 'jwk' }) as Jwk, 'EdDSA')
  const header = { sender_id: 'spmis.example.org' }
  const message = { transaction_id: 'ü' }
  const key = { sender_id: header.sender_id, kid: 'sig-2026', algorithm: 'EdDSA', privateKey } as const
  const times = { created: 1, expires: 2 }
  const profile = DEFAULT_SIGNATURE_PROFILE
  const signature = await sign({ header, message, profile, key, namespace: 'registry', ...times })
  return JSON.stringify({ signature, header, message })
}

test('docs/onboarding.md runs as it stands', { timeout: 600_000 }, async () => {
  const printed: string[] = []
  for (const block of blocks) {
    const message = join(folder(), 'message.json')
    if (block.includes('message.json') && !existsSync(message)) await writeFile(message, await signedMessage())
    if (block.includes('127.0.0.1:8080')) await serve()
    printed.push(await run(block))
  }
  const all = printed.join('')
  expect(all).toContain('client_secret')
  expect(all).toContain('verifies: parameters,rfc8785,EdDSA with key sig-2026, namespace registry')
  expect(all).toContain('"search_response":[')
  expect(all).toContain('"status":"succ"')
  expect(JSON.parse(await readFile(join(folder(), 'public-key.jwk'), 'utf8'))).toMatchObject({ crv: 'Ed25519' })
  expect(all).toContain('key sig-2026 of spmis.example.org is revoked')
  expect(all).toContain('spmis.example.org is disabled')
  expect(all).not.toMatch(/ broken /)
})
