import { execFile } from 'node:child_process'
import { createPublicKey, randomUUID, verify as verifyText } from 'node:crypto'
import { readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { canonicalJson, KINDS } from '@rollcall/protocol'
import { KIND_GENERATORS } from '@rollcall/synthetic'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { askToken, demoToken, search } from '../../test/ask.ts'
import { printed, type Running, rollcall, rollcallJson, start, until } from '../../test/command.ts'
import { demoCalls } from '../../test/demo-calls.ts'
import { filledDemo } from '../../test/filled-demo.ts'
import { sha256, signedSearch, signedText } from '../../test/signed-search.ts'
import { STARTING_TEXT } from '../commands/demo.ts'
import type { DemoFile } from './demo-file.ts'

const run = promisify(execFile)

// biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what is asserted
type Answer = any

/** The kinds of which the demo has a registry. */
const demoKinds = KIND_GENERATORS.flatMap(({ kind }) => KINDS.filter(({ name }) => name === kind))

/** One demo for all these tests; each leaves it running. */
let home: Awaited<ReturnType<typeof filledDemo>>
let running: Running
let demo: DemoFile
let env: { ROLLCALL_DATA: string }
const demoFile = () => join(home.path, 'demo.json')

async function startDemo(...words: string[]): Promise<void> {
  running = start(['demo', ...words], env)
  await printed(running, /Ctrl-C stops it/)
  demo = JSON.parse(await readFile(demoFile(), 'utf8'))
}

beforeAll(async () => {
  home = await filledDemo()
  env = { ROLLCALL_DATA: home.path }
  await startDemo()
})

afterAll(async () => {
  await running.stop()
  await home.remove()
})

const credentials = (sender_id: string) => ({
  sender_id,
  client_id: expect.stringMatching(/^[0-9a-f]{32}$/),
  client_secret: expect.stringMatching(/^[\w-]{43}$/),
  sign: {
    kid: expect.stringMatching(/^[\w-]{43}$/),
    algorithm: 'ed25519',
    private_jwk: expect.objectContaining({ kty: 'OKP', crv: 'Ed25519', d: expect.any(String) }),
  },
  encrypt: {
    kid: expect.stringMatching(/^[\w-]{43}$/),
    private_jwk: expect.objectContaining({ kty: 'RSA', alg: 'RSA-OAEP-256', d: expect.any(String) }),
  },
})

test('demo.json has the agreed shape, and only its owner reads it', async () => {
  expect((await stat(demoFile())).mode & 0o777).toBe(0o600)
  expect(demo).toEqual({
    base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/),
    token_url: `${demo.base_url}/oauth2/client/token`,
    participant: credentials('demo.spmis.example'),
    restricted: credentials('restricted.spmis.example'),
    admin: {
      base_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:[1-9]\d+$/),
      token: expect.stringMatching(/^rollcall_\d+_[\w-]{43}$/),
    },
    registries: demoKinds.map(({ name, reg_type, record_types: [first] }) => ({
      namespace: name,
      kind: name,
      receiver_id: `${name}.rollcall.example`,
      reg_type: `ns:org:RegistryType:${reg_type.name}`,
      reg_record_type: first.emitted,
      samples: expect.any(Array),
    })),
  })
})

test('every sample of every registry names exactly one record', async () => {
  const token = await demoToken(demo)
  for (const registry of demo.registries) {
    const { status, items } = await search(demo.base_url, token, demo.participant.sender_id, registry)
    expect({ namespace: registry.namespace, status }).toEqual({ namespace: registry.namespace, status: 200 })
    expect(items.length).toBeGreaterThanOrEqual(20)
    for (const [at, item] of items.entries()) {
      const sample = registry.samples[at]
      const found = [item.status, item.data?.reg_records.length, item.pagination?.total_count]
      expect({ sample, found }).toEqual({ sample, found: ['succ', 1, 1] })
      expect(JSON.stringify(item.data?.reg_records)).toContain(`"${sample?.identifier_value}"`)
    }
  }
})

const now = (): string => new Date().toISOString()

const { admin, civilQueries, receiverState, addressOfCallbacks } = demoCalls(() => ({ running, demo }))

test('the restricted participant looks people up under their consent, and sees little of them', async () => {
  const consent = { ts: now(), purpose: { text: 'Eligibility check', code: 'eligibility' } }
  const types = new Set<string>()
  for (const query of civilQueries()) {
    if (types.has(query.type)) continue
    types.add(query.type)
    const { send, ...envelope } = await signedSearch(demo, demo.restricted, { query, consent })
    const [item] = ((await (await send(envelope)).json()) as Answer).message.search_response
    expect(item).toMatchObject({ status: 'succ', pagination: { total_count: 1 } })
    const [record] = item.data.reg_records
    const members = Object.keys(record).filter((name) => !name.startsWith('@'))
    expect(members.toSorted()).toEqual(['birth_date', 'identifier', 'name'])
  }
  expect(types.size).toBeGreaterThan(1)
})

test('the restricted participant is refused everything else', async () => {
  const [query] = civilQueries()
  const { send, ...envelope } = await signedSearch(demo, demo.restricted, { query })
  const [item] = ((await (await send(envelope)).json()) as Answer).message.search_response
  expect(item.status_reason_message).toBe('search_criteria.consent: is required here, with ts and a purpose.code of eligibility')
  const { header, message } = envelope
  const unsigned = await send({ header: { ...header, message_id: randomUUID() }, message })
  expect([unsigned.status, ((await unsigned.json()) as Answer).errors[0].code]).toEqual([401, 'err.signature.missing'])
  const elsewhere = await send(envelope, 'social')
  expect([elsewhere.status, ((await elsewhere.json()) as Answer).errors[0].code]).toEqual([403, 'err.request.forbidden'])
})

test('a message signed with its key is taken, and the answer verifies with the published keys', async () => {
  const [query] = civilQueries()
  const { send, signature, header, message } = await signedSearch(demo, demo.participant, { query })
  const altered = await send({ signature, header: { ...header, total_count: 0 }, message })
  expect([altered.status, ((await altered.json()) as Answer).errors[0].code]).toEqual([401, 'err.signature.invalid'])

  const answer = (await (await send({ signature, header, message })).json()) as Answer
  expect(answer.message.search_response[0].data.reg_records).toHaveLength(1)
  const parameters = Object.fromEntries(
    [...answer.signature.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
  )
  const { keys } = (await (await fetch(`${demo.base_url}/.well-known/jwks.json`)).json()) as Answer
  const [sender, kid] = parameters.kidId.split('|')
  expect(sender).toBe('civil.rollcall.example')
  const jwk = keys.find((candidate: { kid: string }) => candidate.kid === kid)
  const text = signedText(parameters, sha256(canonicalJson({ header: answer.header, message: answer.message })))
  const publicKey = createPublicKey({ key: jwk, format: 'jwk' })
  expect(verifyText(null, Buffer.from(text), publicKey, Buffer.from(parameters.signature, 'base64'))).toBe(true)
})

/** A text of a page as a reader copies it. */
const unescaped = (text: string): string => text.replaceAll(/&#(\d+);/g, (_, code: string) => String.fromCharCode(Number(code)))

test('the command of its start page works when pasted into bash', async () => {
  const page = await (await fetch(demo.base_url, { headers: { accept: 'text/html' } })).text()
  const pair = unescaped(/<pre id="commands"[^>]*>(.*?)<\/pre>/s.exec(page)?.[1] ?? '')
  expect(pair).toMatch(/^TOKEN=/)
  await run('bash', ['-n', '-c', pair])
  const answer = await run('bash', ['-c', pair]).catch((error) => {
    // Without curl on the machine nothing more can be asked of the text than that bash understands it.
    if (error.code === 127) return null
    throw error
  })
  if (answer === null) return
  const { header, message } = JSON.parse(answer.stdout)
  expect(header).toMatchObject({ status: 'succ', sender_id: 'civil.rollcall.example' })
  expect(message.search_response[0].data.reg_records).toHaveLength(1)
})

test('the command that it prints first, which README has, brings a signed callback', async () => {
  const [, words = ''] = /npx rollcall (search .*)$/m.exec(running.output().stdout) ?? []
  const readme = await readFile(new URL('../../../../README.md', import.meta.url), 'utf8')
  expect(readme).toContain(`\nnpx rollcall ${words.replaceAll("'", '')}\n`)
  const { code, stdout, stderr } = await rollcall(words.replaceAll("'", '').split(' '), env)
  expect({ code, stderr }).toMatchObject({ code: 0, stderr: expect.stringMatching(/^accepted, correlation_id \S+; /) })
  expect(stdout).toMatch(/^from civil\.rollcall\.example, signed\nitem 1: succ, 1 record\n\{/)
  for (const line of ['from civil.rollcall.example, signed', 'item 1: succ, 1 record']) expect(readme).toContain(line)
})

test('rollcall search beside it needs nothing but a question', async () => {
  const [{ samples, receiver_id } = { samples: [], receiver_id: '' }] = demo.registries
  const [sample] = samples
  const identifier = `${sample?.identifier_type}=${sample?.identifier_value}`
  const answer = await rollcallJson(['search', '--identifier', identifier], env)
  expect(answer).toMatchObject({ sender_id: receiver_id, signed: true, items: [{ records: [{}] }] })
  const encrypted = await rollcallJson(['search', '--encrypt', '--identifier', identifier], env)
  expect(encrypted).toMatchObject({ encrypted: true, items: [{ records: [{}] }] })
})

test('its start page leads to a reference page for each registry', async () => {
  const start = await (await fetch(demo.base_url, { headers: { accept: 'text/html' } })).text()
  const pages = new Set(start.match(/\/\w+\/v1\.0\.0\/docs(?=")/g))
  expect(pages.size).toBe(demoKinds.length)
  for (const page of pages) expect((await fetch(`${demo.base_url}${page}`)).status).toBe(200)
})

test('commands beside it use its database: about 2,000 records in each registry', async () => {
  const registries = await rollcallJson(['registry', 'list'], env)
  expect(registries).toHaveLength(demoKinds.length)
  for (const { demo: isDemo, records } of registries) {
    expect(isDemo).toBe(true)
    expect(Object.values<number>(records).reduce((sum, count) => sum + count, 0)).toBe(2_000)
  }
  const social = registries.find(({ namespace }: { namespace: string }) => namespace === 'social')
  expect(social.records.Group).toBeGreaterThan(300)
  expect((await fetch(`${demo.base_url}/ready`)).status).toBe(200)
})

/** For who wants to change the demo itself. */
const WRITES = { ROLLCALL_DEMO_WRITES: '1' }

test.each([
  [['registry', 'add', 'civil', '--namespace', 'civil-real', '--primary', 'NID']],
  [['participant', 'add', 'real.example', '--name', 'Real']],
  [['import', 'civil', 'people.ndjson']],
])('%j is refused, with what to do: real people never stand among synthetic ones', async (words) => {
  await writeFile(join(home.path, 'people.ndjson'), '')
  const { code, stderr, stdout } = await rollcall(words, env, '', home.path)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(
    /^rollcall: this database is a demo's \(it has participant demo\.spmis\.example,.* set ROLLCALL_DATA or DATABASE_URL to another database, .*\n$/,
  )
})

test('an import beside it is found by the next search', async () => {
  const file = join(home.path, 'one.ndjson')
  const person = { '@type': 'Person', identifier: [{ identifier_type: 'UIN', identifier_value: 'CLI-0001' }] }
  await writeFile(file, `${JSON.stringify(person)}\n`)
  const result = await rollcallJson(['import', 'civil', file], { ...env, ...WRITES })
  expect(result).toMatchObject({ finished: true, lines: 1, written: 1, rejected: 0, rejects_file: null })
  const [civil] = demo.registries
  if (civil === undefined) throw new Error('no registry')
  const samples = [{ identifier_type: 'UIN', identifier_value: 'cli-0001' }]
  const token = await demoToken(demo)
  const { items } = await search(demo.base_url, token, demo.participant.sender_id, { ...civil, samples })
  expect(items.map(({ data }) => data?.reg_records)).toEqual([[person]])
})
test('its operator token opens the admin API', async () => {
  expect((await admin('registries')).status).toBe(200)
})
test('a participant added to it is the demo’s too, and gets tokens', async () => {
  const added = await rollcallJson(['participant', 'add', 'second.example', '--name', 'Second'], { ...env, ...WRITES })
  expect(added).toMatchObject({ sender_id: 'second.example', status: 'active', demo: true })
  expect((await askToken(demo.token_url, added)).status).toBe(200)
})

test('a second demo on its database is refused, and leaves demo.json as it is', async () => {
  const before = await readFile(demoFile(), 'utf8')
  const { code, stderr, stdout } = await rollcall(['demo'], env)
  expect({ code, stdout, stderr }).toEqual({
    code: 1,
    stdout: '',
    stderr:
      `${STARTING_TEXT}rollcall: a demo runs on this database already (${demoFile()} has its address); ` +
      'stop it, or set ROLLCALL_DATA to another folder\n',
  })
  expect(await readFile(demoFile(), 'utf8')).toBe(before)
})

test('serve refuses its database', async () => {
  const { code, stderr, stdout } = await rollcall(['serve'], env)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toMatch(/^rollcall: this database is a demo's \(it has participant demo\.spmis\.example,.*\n$/)
})

test('the doctor finds the demo, and nothing broken', async () => {
  const rows: { check: string; state: string }[] = await rollcallJson(['doctor'], env)
  const states = Object.fromEntries(rows.map(({ check, state }) => [check, state]))
  expect(states).toMatchObject({
    demo_data: 'weak',
    database: 'weak',
    signatures: 'weak',
    demo_file_mode: 'ok',
    fsync: 'ok',
    migrations: 'ok',
    client_secrets: 'ok',
    password_file_mode: 'ok',
  })
  expect(Object.values(states)).not.toContain('broken')
})

describe('another start', () => {
  test('keeps the secret after a clean stop, and adds nothing', async () => {
    const before = demo.participant
    expect(await running.stop('SIGINT')).toMatchObject({ code: 0 })
    const old = demo.admin.token
    await startDemo()
    expect(demo.participant).toEqual(before)
    expect((await askToken(demo.token_url, before)).status).toBe(200)
    expect((await admin('registries')).status).toBe(200)
    expect((await admin('registries', { ...demo.admin, token: old })).status).toBe(401)
    expect((await receiverState()).url).toBe(await addressOfCallbacks())
    expect(running.output().stderr).not.toContain('records each went into')
  })

  test('works after kill -9, and writes the new address', async () => {
    const before = demo
    await running.stop('SIGKILL')
    await startDemo()
    expect(demo.participant).toEqual(before.participant)
    expect(demo.registries).toEqual(before.registries)
    expect(await demoToken(demo)).not.toBe('')
  })

  test('makes a new secret when demo.json is lost', async () => {
    const before = demo.participant
    await running.stop()
    await rm(demoFile())
    await startDemo('--no-receiver')
    // Its own receiver, of the start before, is nobody's address now.
    expect([await receiverState(), await addressOfCallbacks()]).toEqual([null, null])
    expect(demo.participant.client_secret).not.toBe(before.client_secret)
    expect(demo.participant.client_id).toBe(before.client_id)
    expect((await askToken(demo.token_url, demo.participant)).status).toBe(200)
  })

  test('is ready only when demo.json is in place', async () => {
    await running.stop()
    await rm(demoFile())
    running = start(['demo'], env)
    const ready = await until(running, async () => {
      const port = /"port":(\d+)/.exec(running.output().stderr)?.[1]
      if (port === undefined) return null
      const { ok } = await fetch(`http://127.0.0.1:${port}/ready`)
      const there = await stat(demoFile()).then(
        () => true,
        () => false,
      )
      // Asked in this order, a ready server without a file would show.
      return ok ? { there } : null
    })
    expect(ready).toEqual({ there: true })
    await printed(running, /Ctrl-C stops it/)
    demo = JSON.parse(await readFile(demoFile(), 'utf8'))
  })
})
