import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { sealingPeer } from '../../../server/test/sealing.ts'
import { demoServer, person } from '../../test/asking.ts'
import { type Ended, rollcall } from '../../test/command.ts'

let demo: Awaited<ReturnType<typeof demoServer>>
beforeAll(async () => {
  demo = await demoServer()
})
afterAll(() => demo.close())

const search = (words: readonly string[], input = ''): Promise<Ended> => rollcall(['search', ...words], demo.home.env, input)

/** The items of what --json prints. */
function itemsOf({ code, stdout, stderr }: Ended) {
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  return JSON.parse(stdout).items
}

describe('beside a demo', () => {
  test('an identifier is all that is needed', async () => {
    const { code, stdout, stderr } = await search(['--identifier', 'UIN=0012'])
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const [head, item, ...record] = stdout.split('\n')
    expect(head).toBe('from civil.example, signed')
    expect(item).toBe('item 1: succ, 1 record')
    expect(JSON.parse(record.join('\n'))).toEqual(person('0012', 'Ada'))
  })

  test('nobody found is an answer', async () => {
    const { code, stdout } = await search(['--identifier', 'UIN=0099'])
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'from civil.example, signed\nitem 1: succ, 0 records\n' })
  })

  test('conditions, in order, page by page', async () => {
    const where = ['--where', '{"given_name": {"$gte": "a"}}', '--sort', 'given_name:desc']
    const { stdout } = await search([...where, '--page-size', '2'])
    expect(stdout).toContain('item 1: succ, 2 of 3 records, page 1\n')
    expect(stdout).toMatch(/"Cai"[\s\S]*"Bo"[\s\S]*there are more records; --page or --all shows them\n$/)
    const [second] = itemsOf(await search([...where, '--page-size', '2', '--page', '2', '--json']))
    expect(second).toMatchObject({ page_number: 2, total_count: 3, records: [person('0012', 'Ada')] })
    const all = await search([...where, '--page-size', '2', '--all', '--json'])
    const names = all.stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).name.given_name)
    expect(names).toEqual(['Cai', 'Bo', 'Ada'])
    expect((await search([...where, '--page-size', '2', '--all'])).stdout).toMatch(/\n}\n3 records in all\n$/)
  })

  test('graphql answers what it asks for', async () => {
    const [item] = itemsOf(await search(['--graphql', '{ person(UIN: "0013") { given_name } }', '--json']))
    expect(item.records).toEqual([{ given_name: 'Bo' }])
  })

  test('another registry of it, and its address in another spelling', async () => {
    const other = await search(['--registry', 'ibr', '--identifier', 'UIN=0012', '--json'])
    expect(JSON.parse(other.stdout)).toMatchObject({ sender_id: 'ibr.example', signed: true })
    const url = `${demo.server.url.replace('127.0.0.1', 'localhost')}/civil/v1.0.0/`
    const [item] = itemsOf(await search(['--url', url, '--identifier', 'UIN=0012', '--json']))
    expect(item.records).toHaveLength(1)
  })

  test('encrypted, with the key of the demo', async () => {
    const { stdout } = await search(['--encrypt', '--identifier', 'UIN=0012', '--json'])
    expect(JSON.parse(stdout)).toMatchObject({ signed: true, encrypted: true, items: [{ status: 'succ' }] })
  })
})

test.each<[string, unknown]>([
  ['an identifier', { type: 'UIN', value: '0012' }],
  ['conditions', { UIN: '0012' }],
  ['a typed expression', { type: 'ns:org:QueryType:expression', value: { expression: { query: { UIN: '0012' } } } }],
  ['a list', [{ expression1: { attribute_name: 'given_name', operator: 'eq', attribute_value: 'Ada' } }]],
  ['graphql', '{ person(UIN: "0012") { UIN } }'],
  ['search_criteria', { query_type: 'idtype-value', query: { type: 'UIN', value: '0012' } }],
  [
    'a whole request',
    {
      header: {},
      message: {
        search_request: [
          {
            reference_id: '1',
            timestamp: '2026-01-01T00:00:00Z',
            search_criteria: { query_type: 'idtype-value', query: { type: 'UIN', value: '0012' } },
          },
        ],
      },
    },
  ],
])('--query takes %s', async (_name, query) => {
  const [item] = itemsOf(await search(['--query', '-', '--json'], JSON.stringify(query)))
  expect(item).toMatchObject({ reference_id: '1', status: 'succ', total_count: 1 })
  expect(item.records).toHaveLength(1)
})

describe('a batch', () => {
  test('is answered item by item; some rejected is exit code 3', async () => {
    const { code, stdout } = await search(['--identifier', 'UIN=0012', '--identifier', 'SHOE=42'])
    expect(code).toBe(3)
    expect(stdout).toMatch(/\nitem 1: succ, 1 record\n/)
    expect(stdout).toMatch(/\nitem 2: rjct, rjct\.search_criteria\.invalid: search_criteria\.query\.type: must be/)
  })

  test('all of them rejected is exit code 1', async () => {
    const { code } = await search(['--identifier', 'HAT=7', '--identifier', 'SHOE=42', '--json'])
    expect(code).toBe(1)
  })
})

describe('elsewhere', () => {
  test('it asks as whoever is named, with keys and a secret from files', async () => {
    const peer = await sealingPeer(demo.server, 'sp.example')
    const key = join(demo.home.path, 'key.json')
    await writeFile(key, JSON.stringify(peer.signer.privateJwk))
    const secret = join(demo.home.path, 'secret.txt')
    await writeFile(secret, `${peer.secret}\n`)
    const words = [
      ...['search', '--url', `${demo.server.url}/civil/v1.0.0`, '--sender-id', 'sp.example'],
      ...['--client-id', peer.client_id, '--sign-key', key, '--sign-kid', 'sig-1'],
      ...['--identifier', 'UIN=0012'],
    ]
    const nowhere = { ROLLCALL_DATA: join(demo.home.path, 'none') }
    const byFile = await rollcall([...words, '--client-secret-file', secret], nowhere)
    expect(byFile).toMatchObject({ code: 0, stderr: '' })
    const byInput = await rollcall([...words, '--client-secret-file', '-'], nowhere, peer.secret)
    expect(byInput.stdout).toBe(byFile.stdout)
    const byVariable = await rollcall(words, { ...nowhere, ROLLCALL_CLIENT_SECRET: peer.secret })
    expect(byVariable.stdout).toBe(byFile.stdout)
    const without = await rollcall(words, nowhere)
    expect(without).toEqual({
      code: 1,
      stdout: '',
      stderr: 'rollcall: the secret of --client-id is missing: put it in ROLLCALL_CLIENT_SECRET or give --client-secret-file\n',
    })
  })

  test("nothing of the demo's goes to another address", async () => {
    const { code, stderr } = await search(['--url', 'http://127.0.0.1:9/civil/v1.0.0', '--identifier', 'UIN=0012'])
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'rollcall: --sender-id is missing; give our sender_id at the registry\n',
    })
  })

  test('plain HTTP beyond this machine is said before anything is sent', async () => {
    const words = ['--url', 'http://registry.invalid/x/v1.0.0', '--sender-id', 'a', '--identifier', 'UIN=1']
    const { stderr } = await search([...words, '--timeout', '1'])
    expect(stderr.split('\n')[0]).toBe('rollcall: this address speaks plain HTTP: secrets and records cross the network in clear')
  })

  test('keys that are given are believed, and no others', async () => {
    const keys = join(demo.home.path, 'keys.json')
    await writeFile(keys, JSON.stringify({ keys: [{ ...keyPair('Ed25519').jwk, kid: 'other', use: 'sig' }] }))
    const { code, stdout, stderr } = await search(['--peer-keys', keys, '--identifier', 'UIN=0012'])
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(stderr).toBe(
      "rollcall: the answer is not trusted: err.signature.invalid: signature: no key of the sender has the signature's key id and algorithm: compare its key set with the signature; see --peer-keys, --peer-profile\n",
    )
    const unverified = await search(['--peer-keys', keys, '--verify', 'off', '--identifier', 'UIN=0012'])
    expect(unverified.stdout).toMatch(/^from civil\.example, not signed\n/)
  })
})

test.each<[string, readonly string[], string]>([
  ['no question', [], 'say what to search for, with exactly one of --identifier, --where, --graphql and --query'],
  ['two questions', ['--where', '{}', '--graphql', '{ a }'], 'say what to search for, with exactly one of --identifier'],
  ['an identifier without type', ['--identifier', '0012'], '--identifier must be a type and a value, such as UIN=8128560370'],
  [
    'conditions that are no JSON',
    ['--where', '{sex}'],
    `--where is not JSON: a member name is expected at character 2; write conditions such as '{"sex": "female"}'`,
  ],
  [
    'a page of unknown size',
    ['--identifier', 'UIN=1', '--page', '2'],
    '--page needs --page-size, the number of records on a page',
  ],
  ['an order that is none', ['--identifier', 'UIN=1', '--sort', 'age:up'], '--sort must be an attribute'],
  [
    'a registry that is not there',
    ['--identifier', 'UIN=1', '--registry', 'zoo'],
    'the demo has no registry zoo; it has civil, ibr',
  ],
  ['an address that is none', ['--identifier', 'UIN=1', '--url', 'civil'], '--url must be an address such as'],
  ['a missing file', ['--query', '/nowhere'], 'the file /nowhere cannot be read: no such file or directory'],
  [
    'a key that is public',
    ['--identifier', 'UIN=1', '--sign-key', '-'],
    '- holds a public key: give the file with the private key that belongs to it',
  ],
  [
    'a secret without the client_id that it belongs to',
    ['--identifier', 'UIN=1', '--client-secret-file', '-'],
    '--token-url and --client-secret-file need --client-id, our client_id at the registry',
  ],
  [
    'the address of a token endpoint without a client_id',
    ['--identifier', 'UIN=1', '--token-url', 'https://registry.example/token'],
    '--token-url and --client-secret-file need --client-id, our client_id at the registry',
  ],
  ['standard input twice', ['--query', '-', '--sign-key', '-'], 'only one file can be read from standard input (-)'],
  [
    'standard input twice, once for the keys of the registry',
    ['--query', '-', '--peer-keys', '-'],
    'only one file can be read from standard input (-)',
  ],
  ['a rejected search', ['--where', '{"shoe": 42}'], 'rejected: rjct.search_criteria.invalid: search_criteria.query'],
  ['all of several', ['--identifier', 'UIN=1', '--identifier', 'UIN=2', '--all'], '--all needs exactly one question'],
])('%s: exit code 1, one line', async (_name, words, message) => {
  const { code, stdout, stderr } = await search(words, JSON.stringify(keyPair('Ed25519').jwk))
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(stderr).toContain(`rollcall: ${message}`)
  expect(stderr.trimEnd()).not.toContain('\n')
})

test('without a demo it says what is missing, and what does not answer', async () => {
  const env = { ROLLCALL_DATA: join(demo.home.path, 'none') }
  const nothing = await rollcall(['search', '--identifier', 'UIN=1'], env)
  expect(nothing).toMatchObject({ code: 1, stdout: '' })
  expect(nothing.stderr).toContain('rollcall: name the registry with --url, or start the demo first (npm start)')
  const words = ['search', '--url', 'http://127.0.0.1:9/civil/v1.0.0', '--sender-id', 'a', '--identifier', 'UIN=1']
  expect(await rollcall(words, env)).toEqual({
    code: 1,
    stdout: '',
    stderr: 'rollcall: no answer: the address cannot be reached or broke the connection off, after 4 attempts\n',
  })
})
