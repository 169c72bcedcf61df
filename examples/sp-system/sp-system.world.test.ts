/** The whole example in a process of its own, against the real server with the people of the demo. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { RegistryClient, resultsOf } from '@rollcall/client'
import { generateLines } from '@rollcall/synthetic'
import { afterAll, beforeAll, expect, inject, test } from 'vitest'
import { keyPair } from '../../packages/core/test/key-pairs.ts'
import { allowLoopback } from '../../packages/server/test/asynchronous.ts'
import { LOOPBACK } from '../../packages/server/test/deliveries.ts'
import { sealingPeer } from '../../packages/server/test/sealing.ts'
import { type TestServer, testServer } from '../../packages/server/test/server.ts'
import { answering, statusesOf } from './enrol.ts'
import { clientOptions, readSettings, type Settings } from './settings.ts'

const run = promisify(execFile)
const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8')
const [DECISIONS, ENROLLED] = [...readme.matchAll(/```text\n(.*?)```/gs)].map(([, text]) => text)

let server: TestServer
let folder: string
let participant: object
beforeAll(async () => {
  server = await testServer({ ROLLCALL_ROLE: 'all' })
  for (const kind of ['civil', 'social', 'ibr']) {
    const lines = generateLines(kind, { count: 69, seed: 'demo' })
    await server.registry(
      kind,
      [...lines].map((line) => JSON.parse(line)),
    )
  }
  folder = await mkdtemp(join(tmpdir(), 'rollcall-example-'))
  const added = await sealingPeer(server, 'sp.example', { settings: { outgoing: [LOOPBACK] } })
  await allowLoopback(server, added)
  const { signer, secret, ...peer } = added
  const private_jwk = { ...signer.privateJwk, kid: signer.kid }
  participant = { ...peer, client_secret: secret, sign: { private_jwk } }
})
afterAll(async () => {
  await server.close()
  await rm(folder, { recursive: true })
})

/** A file of settings for registries at this address. */
async function settings(base_url: string, names = ['civil', 'social', 'ibr']): Promise<string> {
  const registries = names.map((namespace) => ({ namespace, receiver_id: `${namespace}.example` }))
  const path = join(folder, 'settings.json')
  await writeFile(path, JSON.stringify({ base_url, participant, registries }))
  return path
}

/** Runs the example as it is built once in a run. */
const example = (...words: string[]) => run(process.execPath, [inject('programs').example, ...words])

test('decides as the README shows', async () => {
  const source = join(import.meta.dirname, 'main.ts')
  const { stdout, stderr } = await run(process.execPath, [source, '--settings', await settings(server.url)])
  expect(stderr).toBe('')
  expect(stdout).toBe(DECISIONS)
})

test('decides the same by callback, and hears nothing of the people', async () => {
  const { stdout, stderr } = await example('--async', '--settings', await settings(server.url))
  expect(stderr).toBe('')
  expect(stdout).toBe(DECISIONS)
  const { pool } = server.database.db
  const kept = async () => (await pool.query<{ state: string; correlation_id: string }>('select * from delivery')).rows
  await expect.poll(async () => (await kept()).map(({ state }) => state)).toEqual(['delivered', 'delivered', 'delivered'])
  // The records of the callbacks, as the registries repeat them, have no member of a person.
  const known = await readSettings(await settings(server.url))
  const records = await Promise.all((await kept()).map(({ correlation_id }) => recordsTold(known, correlation_id)))
  expect(records.flat().length).toBeGreaterThan(10)
  expect([...new Set(records.flat().flatMap((record) => Object.keys(record)))]).toEqual(['__typename'])
})

/** The records of the answer with this correlation_id; each registry tells its own only. */
async function recordsTold(known: Settings, correlation_id: string): Promise<readonly object[]> {
  const question = { attribute_type: 'correlation_id', attribute_value: correlation_id } as const
  const answers = await Promise.all(
    (['civil', 'social', 'ibr'] as const).map((name) => new RegistryClient(clientOptions(known, name)).txnStatus(question)),
  )
  return answers
    .flatMap((answer) => resultsOf(answer))
    .flatMap((result) => (result.ok && 'data' in result.item ? (result.item.data?.reg_records ?? []) : []))
}

test('what a registry does not answer is to be checked', async () => {
  const { stdout, stderr } = await example('--settings', await settings(server.url, ['civil', 'social']))
  expect(stderr).toBe('the ibr registry: the settings name no ibr registry\n')
  expect(stdout).toContain('A-1  to be checked: the ibr registry gave no answer\n')
  expect(stdout).toContain('A-5  not eligible: the applicant has died\n')
})

test('a wrong file is told by place, not by value', async () => {
  const file = join(folder, 'applications.json')
  await writeFile(file, '[{"application": "A-1", "uin": "1"}, {"application": "A-2", "uin": 8128560370}]')
  const ended = example(file, '--settings', await settings(server.url))
  const { stderr } = await ended.then(
    () => ({ stderr: '' }),
    (error: { stderr: string }) => error,
  )
  expect(stderr).toContain('application 2 of the list must have the texts application and uin')
  expect(stderr).not.toContain('8128560370')
})

test('those who are eligible are enrolled, and then are enrolled already', async () => {
  const path = await settings(server.url)
  const { stdout, stderr } = await example('--enrol', '--settings', path)
  expect([stdout, stderr]).toEqual([`${DECISIONS}${ENROLLED}`, ''])
  const again = await example('--enrol', '--settings', path)
  for (const [application = ''] of ENROLLED?.matchAll(/^A-\d/gm) ?? []) {
    expect(again.stdout).toContain(`${application}  not eligible: the applicant is enrolled already\n`)
  }
  expect(again.stdout).not.toMatch(/ {2}enrolled$/m)
})

test('an employment support system is answered with the status of those who are enrolled', async () => {
  const known = await readSettings(await settings(server.url))
  const { jwk, privateJwk } = keyPair('Ed25519')
  const peers = [{ sender_id: 'ess.example', keys: { keys: [{ ...jwk, kid: 'ess-1', use: 'sig' }] } }]
  const applications = [
    { application: 'A-1', uin: '0012' },
    { application: 'A-2', uin: '0013' },
  ]
  const decisions = (['eligible', 'not eligible'] as const).map((decision, at) => {
    return { application: applications[at]?.application ?? '', decision, reasons: [] }
  })
  const receiver = answering(known, statusesOf(applications, decisions), peers)
  const { sign, sender_id } = known.participant
  const { d: _private, ...published } = sign.private_jwk
  const ess = new RegistryClient({
    base_url: 'https://sp.example',
    sender_id: 'ess.example',
    receiver_id: sender_id,
    signing: { key: { ...privateJwk, kid: 'ess-1' } },
    peer: { keys: { keys: [{ ...published, use: 'sig' }] } },
    fetch: (url, init) => receiver.handle(new Request(url, init)),
  })
  const labels = await Promise.all(['0012', '0013', '9999'].map((uin) => ess.checkEnrolment(uin)))
  expect(labels).toEqual(['Active', 'Inactive', 'Inactive'])
})
