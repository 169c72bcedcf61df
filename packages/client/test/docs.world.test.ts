/** docs/client.md: its examples run against a real server, or at least compile; its tables name what there is. */
import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { OPERATIONS } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { consentAuthority } from '../../admin/test/consents.ts'
import { grant } from '../../participants/test/grants.ts'
import { allowLoopback } from '../../server/test/asynchronous.ts'
import { LOOPBACK } from '../../server/test/deliveries.ts'
import { type TestParticipant, type TestServer, testServer } from '../../server/test/server.ts'
import { DEFAULT_RETRY } from '../src/http/retry.ts'
import * as everything from '../src/index.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')
const page = readFileSync(join(root, 'docs/client.md'), 'utf8')
const blocks = [...page.matchAll(/```ts (run|check)\n(.*?)\n```/gs)].map(([, how, text], index) => ({
  how,
  text: text ?? '',
  file: `example-${index + 1}.ts`,
}))

// Below the package, so that the workspace's packages are found; dist is nobody's source.
const dist = join(root, 'packages/client/dist')
let place: string
let server: TestServer
let participant: TestParticipant
/** Whoever asks under a consent alone. */
let consenting: TestParticipant
let consent_jws: string

const person = (uin: string, given_name: string) => ({
  '@type': 'Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'MOBILE', identifier_value: '+999 555 0101' },
  ],
  name: { surname: 'Okoro', given_name },
})

beforeAll(async () => {
  mkdirSync(dist, { recursive: true })
  place = mkdtempSync(join(dist, 'docs-'))
  // In place of the port that the page names, which may be taken.
  const port = String(await freePort())
  for (const { file, text } of blocks) writeFileSync(join(place, file), text.replaceAll('8090', port))
  server = await testServer({ ROLLCALL_ROLE: 'all' })
  await server.registry('civil', [person('0012', 'Ada'), person('0013', 'Bo'), person('0014', 'Cai')])
  // The examples name the registry of the demo.
  await server.database.db.pool.query(`update registry set sender_id = 'civil.rollcall.example'`)
  participant = await server.participant('sp.example', {
    signature_policy: 'if-present',
    allow_unsigned: true,
    outgoing: [LOOPBACK],
  })
  await allowLoopback(server, participant)
  consenting = await server.participant('health.example', { signature_policy: 'if-present', allow_unsigned: true })
  await grant(server.database, consenting.sender_id, 'civil', {
    operations: ['search'],
    query_forms: ['identifier'],
    see: ['identifier', 'name'],
    basis: 'consent',
    purposes: ['eligibility'],
  })
  const authority = await consentAuthority(server.database)
  const subject = { identifier_type: 'UIN', identifier_value: '0012' }
  consent_jws = await authority.sign({ subject, attributes: ['given_name'], aud: 'civil.rollcall.example' })
})
afterAll(async () => {
  await server.close()
  rmSync(place, { recursive: true })
})

it('the examples that run name the registry as the demo does', () => {
  const demo = readFileSync(join(root, 'packages/cli/src/demo/demo.yaml'), 'utf8')
  expect(demo).toContain('sender_id: civil.rollcall.example')
  const named = blocks.flatMap(({ how, text }) =>
    how === 'run' ? [...text.matchAll(/sender_id: '(\w+\..*?)'/g)].map(([, name]) => name) : [],
  )
  expect(named).toEqual(['civil.rollcall.example'])
})

it('every example compiles', async () => {
  const config = { extends: join(root, 'tsconfig.json'), include: ['*.ts'] }
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify(config))
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const outcome = run(process.execPath, [tsc, '-p', place])
  expect(
    await outcome.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    ),
  ).toBe('')
})

/** Lines that the running examples print; callbacks come in any order. */
const SAYS = [
  { lines: ["{ given_name: 'Ada', surname: 'Okoro' }"], inOrder: true },
  { lines: ["{ given_name: 'Ada', surname: 'Okoro' }", "{ given_name: 'Ada' }"], inOrder: true, underConsent: true },
  {
    lines: [
      ...[
        "{ given_name: 'Ada', surname: 'Okoro' }",
        "{ given_name: 'Bo', surname: 'Okoro' }",
        "{ given_name: 'Cai', surname: 'Okoro' }",
      ],
      ...['1 answered', 'case-77 rjct.search_criteria.invalid', '1'],
    ],
    inOrder: true,
  },
  {
    lines: [...['stored for case-77', '1 found'], ...['stored for case-78', 'page 1', 'stored for case-78', 'page 2']],
    inOrder: false,
  },
]

describe.each(blocks.filter(({ how }) => how === 'run').map((block, index) => ({ ...block, says: SAYS[index] })))(
  '$file',
  ({ file, says }) => {
    it('runs as it stands', async () => {
      const asking = says?.underConsent === true ? consenting : participant
      const env = {
        ...process.env,
        REGISTRY_URL: `${server.url}/civil/v1.0.0`,
        SENDER_ID: asking.sender_id,
        CLIENT_ID: asking.client_id,
        CLIENT_SECRET: asking.secret,
        CONSENT_JWS: consent_jws,
      }
      const { stdout } = await run(process.execPath, [join(place, file)], { env })
      const lines = stdout.trimEnd().split('\n')
      if (says?.inOrder) expect(lines).toEqual(says.lines)
      else expect(lines.toSorted()).toEqual(says?.lines.toSorted())
    })
  },
)

/** Methods whose names say what they do, where the operation's name says what is sent. */
const OWN_NAMES: Readonly<Record<string, string>> = {
  'enrolment-updates': 'updateEnrolments',
  'enrolment-status': 'checkEnrolment',
}

it('there is an example of each kind, and none is unmarked', () => {
  expect(blocks.map(({ how }) => how)).toEqual([
    ...['run', 'check', 'check', 'run', 'run', 'check', 'check', 'check', 'run', 'check', 'check', 'check'],
  ])
  expect(page.match(/```ts\n/g)).toBeNull()
})

describe('the tables', () => {
  it('name every error, every operation and the pauses', () => {
    const errors = Object.entries(everything).flatMap(([name, value]) =>
      typeof value === 'function' && value.prototype instanceof Error ? [name] : [],
    )
    expect(errors.filter((name) => !page.includes(`| \`${name}\` |`))).toEqual([])
    expect(errors).toHaveLength(8)
    const methods = OPERATIONS.flatMap(({ name, async_paths }) => {
      const method = OWN_NAMES[name] ?? name.replace(/-[a-z]/g, (letter) => letter.slice(1).toUpperCase())
      return async_paths.length > 0 ? [method, `${method}Async`] : [method]
    })
    expect(methods.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
    const pauses = Object.entries(DEFAULT_RETRY).map(([name, value]) => `${name}: ${value}`)
    expect(page).toContain(`\`{ ${pauses.join(', ')} }\``)
  })
})

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}
