/** The file of the demo makes a working registry of an empty database: apply, serve, a signed search. */
import { generateKeyPairSync } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { TOKEN_PATH } from '@rollcall/protocol'
import { afterAll, expect, test } from 'vitest'
import { parseDocument } from 'yaml'
import { printed, rollcall, rollcallJson, start } from '../../test/command.ts'
import { commandDatabase } from '../../test/command-database.ts'
import { signedSearch } from '../../test/signed-search.ts'
import { DEMO_CONFIGURATION_PATH } from './directory.ts'

const { env, home } = await commandDatabase()
const ended: (() => Promise<unknown>)[] = []
afterAll(async () => {
  for (const end of ended) await end()
})
const RESTRICTED = 'restricted.spmis.example'

test('apply turns an empty database into a working registry', async () => {
  const { credentials, applied } = await rollcallJson(['apply', DEMO_CONFIGURATION_PATH], env)
  expect(applied).toBe(true)
  expect(credentials).toHaveLength(2)
  expect((await rollcallJson(['apply', DEMO_CONFIGURATION_PATH], env)).changes).toEqual([])

  // The key, which the demo makes by itself, is the only thing that the file lacks for a message that must be signed.
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const file = parseDocument(await readFile(DEMO_CONFIGURATION_PATH, 'utf8'))
  const public_key = publicKey.export({ format: 'pem', type: 'spki' })
  file.setIn(['participants', RESTRICTED, 'keys'], [{ kid: 'sig-1', public_key }])
  const path = join(home.path, 'rollcall.yaml')
  await writeFile(path, String(file))
  expect((await rollcallJson(['apply', path], env)).changes).toMatchObject([{ change: 'add' }])

  const records = join(home.path, 'one.ndjson')
  const person = {
    identifier: [{ identifier_type: 'UIN', identifier_value: 'U-1' }],
    name: { surname: 'Obi', given_name: 'Ada' },
    birth_date: '1990-05-05',
  }
  await writeFile(records, `${JSON.stringify({ '@type': 'Person', ...person, sex: 'female' })}\n`)
  expect(await rollcall(['import', 'civil', records], env)).toMatchObject({ code: 0 })

  const running = start(['serve', '--json'], { ...env, PORT: '0', ADMIN_PORT: '0' })
  ended.push(() => running.stop())
  const [line] = await printed(running, /^.*\n/)
  const { url: base_url } = JSON.parse(line)
  const made = credentials.find(({ sender_id }: { sender_id: string }) => sender_id === RESTRICTED)
  const sign = {
    kid: 'sig-1',
    algorithm: 'ed25519' as const,
    private_jwk: privateKey.export({ format: 'jwk' }) as Record<string, unknown>,
  }
  const { send, ...envelope } = await signedSearch(
    { base_url, token_url: `${base_url}/${TOKEN_PATH}` },
    { ...made, sign },
    {
      query: { type: 'UIN', value: 'U-1' },
      consent: { ts: new Date().toISOString(), purpose: { text: 'Eligibility check', code: 'eligibility' } },
    },
  )
  const answer = await send(envelope)
  const body = (await answer.json()) as { message: { search_response: readonly object[] } }
  expect([answer.status, body.message.search_response]).toMatchObject([
    200,
    [{ status: 'succ', data: { reg_records: [{ '@type': 'Person', ...person }] } }],
  ])
  expect(JSON.stringify(body)).not.toContain('female')
})
