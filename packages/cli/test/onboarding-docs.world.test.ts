import { spawnSync } from 'node:child_process'
import { createPrivateKey } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { DEFAULT_SIGNATURE_PROFILE, importSigningKey, type Jwk, sign } from '@rollcall/protocol'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { testDatabase } from '../../server/test/postgres.ts'
import { databaseUrl } from './command.ts'

const MAIN = fileURLToPath(new URL('../src/main.ts', import.meta.url))
const page = await readFile(new URL('../../../docs/onboarding.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```sh\n(.*?)\n```/gs)].map(([, block]) => block ?? '')

let folder: string
let env: Record<string, string>
let close: () => Promise<void>
beforeAll(async () => {
  const database = await testDatabase()
  close = database.close
  const { PATH = '', HOME = '' } = process.env
  env = { PATH, HOME, DATABASE_URL: databaseUrl(database.connection), ROLLCALL_MASTER_KEY: 'ab'.repeat(32) }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-onboarding-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
  await close()
})

/** What the participant sends when it is asked for a message. */
async function signedMessage(): Promise<string> {
  const pem = await readFile(join(folder, 'private-key.pem'))
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
    const message = join(folder, 'message.json')
    if (block.includes('message.json') && !existsSync(message))
      await writeFile(message, await signedMessage())
    const script = `set -e -o pipefail\nrollcall() { '${process.execPath}' '${MAIN}' "$@"; }\n${block}`
    const { status, stdout, stderr } = spawnSync('bash', ['-c', script], {
      cwd: folder,
      env,
      encoding: 'utf8',
    })
    expect({ block, status, stderr: status === 0 ? '' : stderr }).toEqual({ block, status: 0, stderr: '' })
    printed.push(stdout)
  }
  const all = printed.join('')
  expect(all).toContain('client_secret')
  expect(all).toContain('verifies: parameters,rfc8785,EdDSA with key sig-2026, namespace registry')
  expect(all).toContain('key sig-2026 of spmis.example.org is revoked')
  expect(all).toContain('spmis.example.org is disabled')
  expect(all).not.toMatch(/ broken /)
})
