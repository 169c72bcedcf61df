/** The examples in Python and Java: the vectors, the first search and callback, and every callback that they refuse. */
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canonicalJson, parseJson } from '@rollcall/protocol'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import type { Vector } from '../conformance/signature/cases.ts'
import { FILES } from '../conformance/signature/vectors.ts'
import { demoServer } from '../packages/cli/test/asking.ts'
import { CIVIL, onSearch, SIGNER, signed } from '../packages/client/test/callbacks.ts'
import { keyPair } from '../packages/core/test/key-pairs.ts'
import { ended, JAVA, type Language, PYTHON, started } from './test/languages.ts'

const VECTORS = join(import.meta.dirname, '../conformance/signature')
const LANGUAGES: readonly Language[] = [PYTHON, JAVA]
const STRANGER = { ...SIGNER, privateJwk: keyPair('Ed25519').privateJwk }

let demo: Awaited<ReturnType<typeof demoServer>>
let folder: string
beforeAll(async () => {
  demo = await demoServer()
  folder = await mkdtemp(join(tmpdir(), 'rollcall-languages-'))
})
afterAll(async () => {
  await demo.close()
  await rm(folder, { recursive: true })
})

/** The vectors that the example takes and refuses, as it counts them. */
async function expectedCounts({ prefixes, algorithms }: Language): Promise<string> {
  const counts: Record<string, number> = {}
  for (const file of Object.keys(FILES)) {
    const vectors: readonly Vector[] = JSON.parse(await readFile(join(VECTORS, `${file}.json`), 'utf8'))
    for (const { profile, expected } of vectors) {
      const { layout, canonical_form, digest_prefix, algorithms: registered } = profile
      const isForm = layout === 'parameters' && canonical_form === 'rfc8785' && prefixes.includes(digest_prefix)
      const isClaimed = isForm && registered.every((name) => algorithms.includes(name))
      const name = isClaimed ? expected : 'not claimed'
      counts[name] = (counts[name] ?? 0) + 1
    }
  }
  const names = Object.keys(counts).toSorted()
  return names.map((name) => `${counts[name]} ${name}`).join(', ')
}

/** Texts of numbers whose canonical form differs between languages, and texts that no two readers understand alike. */
const NUMBERS = [
  ...['2e23', '1e23', '3.0', '1e-07', '1E21', '1e21', '100000000000000000000', '0.000001', '1e-6', '-0', '-0.0', '-1.50'],
  ...['9007199254740991', '9007199254740992', '9007199254740993', '295147905179352830000', '0.1', '0.10000000000000001'],
  ...['5e-324', '4e-324', '1.7976931348623157e308', '1e400', '1e-400', '123456789012345678', '333333333.3333333'],
  ...['1424953923781206.2', '9.5367431640625e-7', '5.684341886080802e-14', '2.2250738585072014e-308', '01', '1.', 'NaN'],
]
const TEXTS = [
  ...['{"\\ud83d\\ude00":1,"\\ufb33":2,"\\u20ac":3,"a":4,"":5}', '{"a":1,"\\u0061":2}', '"\\ud800"', '"\\u0000"'],
  ...['"\\u001f\\u007f\\u2028\\/\\"\\\\é€😀"', '[1,]', '[1] 2', "{'a':1}", '[1]//', '"\t"', '{"b":[{"z":1,"a":null}],"a":true}'],
  ...[64, 65, 5_000].flatMap((depth) => ['['.repeat(depth) + ']'.repeat(depth), `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`]),
]

function canonicalOf(text: string): string {
  try {
    return canonicalJson(parseJson(text))
  } catch {
    return 'refused'
  }
}

/** Doubles of every size, the same in each run. */
function doubles(count: number): string[] {
  const view = new DataView(new ArrayBuffer(8))
  let seed = 1
  const next = () => (seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0)
  return Array.from({ length: count }, () => {
    view.setUint32(0, next())
    view.setUint32(4, next())
    return String(view.getFloat64(0)).replace(/NaN|-?Infinity/, '0')
  })
}

describe.each(LANGUAGES)('$name', (language) => {
  const words = (context: TestContext, program: Parameters<Language['words']>[1]) => language.words(context, program, folder)

  test('takes and refuses each vector of the layout that it claims', async (context) => {
    const { stdout } = await ended([...(await words(context, 'vectors')), VECTORS])
    expect(stdout).toBe(`${await expectedCounts(language)}\nall as expected\n`)
  })

  test('writes canonical JSON as we do, and refuses what we refuse', async (context) => {
    const texts = [...NUMBERS, ...TEXTS, ...doubles(2_000)]
    const { stdout } = await ended([...(await words(context, 'vectors')), '-'], `${texts.join('\n')}\n`)
    const written = stdout.split('\n')
    const wrong = texts.flatMap((text, at) => (canonicalOf(text) === written[at] ? [] : [[text, written[at]]]))
    expect(wrong).toEqual([])
  })

  test('asks, verifies the answer, and is called back', async (context) => {
    const file = join(demo.home.path, 'demo.json')
    const { stdout, stderr } = await ended([...(await words(context, 'try_demo')), file, 'UIN=0012'])
    const found = 'by civil.example, verified: 1 record'
    expect({ stdout, stderr }).toEqual({ stdout: `answered ${found}\ncalled back ${found}\n`, stderr: '' })
  })

  /** A receiver of the example in a process of its own. @param file to which it appends what it has handled */
  async function receiving(context: TestContext, file: string, env: Record<string, string> = {}) {
    const keys = join(folder, 'keys.json')
    await writeFile(keys, JSON.stringify(CIVIL.keys))
    const child = started([...(await words(context, 'receive')), 'sp.example', 'civil.example', keys, file, '0'], env)
    onTestFinished(async () => {
      child.kill()
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    })
    const [line] = await once(child.stdout, 'data')
    const [, url = ''] = /^listening on (\S+)\n/.exec(String(line)) ?? []
    expect((await fetch(`${url}/registry/on-search`)).status).toBe(405)
    const post = async (body: string, headers: Record<string, string> = {}): Promise<[number, string, string]> => {
      const answer = await fetch(`${url}/registry/on-search`, {
        method: 'POST',
        body,
        headers: { 'Content-Type': 'application/json', ...headers },
      })
      const { message, errors } = (await answer.json()) as {
        message: { ack_status: string; correlation_id: string }
        errors?: { code: string; message: string }[]
      }
      return [answer.status, errors?.[0]?.code ?? message.ack_status, errors?.[0]?.message ?? message.correlation_id]
    }
    return { post, child }
  }

  test('handles a callback once, acknowledges it after that, and takes it again when it could not be handled', async (context) => {
    const later = join(folder, `${context.task.id}`)
    const file = join(later, 'callbacks.ndjson')
    const { post, child } = await receiving(context, file)
    const log: Buffer[] = []
    child.stderr.on('data', (data) => log.push(data))
    const body = signed(onSearch())
    const failed = [500, 'err.service.unavailable', 'the message was not handled; send it again later']
    expect(await post(body)).toEqual(failed)
    // The log has the place of the failure, and not the text of the error.
    await expect.poll(() => String(Buffer.concat(log))).toMatch(/a callback was not handled: [^:\n]+\n.*receive\W/is)
    expect(String(Buffer.concat(log))).not.toContain(file)
    await mkdir(later)
    expect(await post(body)).toEqual([200, 'ACK', 'c-1'])
    expect(await post(body)).toEqual([200, 'ACK', 'c-1'])
    expect((await stat(file)).mode & 0o777).toBe(0o600)
    const lines = (await readFile(file, 'utf8')).trimEnd().split('\n')
    expect(lines.map((line) => JSON.parse(line))).toEqual([JSON.parse(body)].map(({ header, message }) => ({ header, message })))

    // A pipe whose other end nobody has opened holds the handler up.
    const pipe = join(later, 'pipe')
    execFileSync('mkfifo', [pipe])
    const { post: postToPipe } = await receiving(context, pipe)
    const both = [postToPipe(body), postToPipe(body)]
    const busy = [503, 'err.service.unavailable', 'the message is being handled; send it again later']
    expect(await Promise.race(both)).toEqual(busy)
    const reader = await open(pipe)
    expect((await Promise.all(both)).toSorted()).toEqual([[200, 'ACK', 'c-1'], busy])
    await reader.close()
  })

  test('refuses every callback that must not be believed', async (context) => {
    const file = join(folder, `${context.task.id}.ndjson`)
    const { post } = await receiving(context, file)
    const times = (created: number, expires: number) => ({ parameters: { created, expires } })
    const now = Math.floor(Date.now() / 1_000)
    const header = (changes: object) => signed(onSearch({ header: changes }))
    const ok = signed(onSearch())
    const ES256 = { kid: 'k-1', algorithm: 'ES256' as const, privateJwk: keyPair('P-256').privateJwk }
    const json = 'body: is not JSON in UTF-8, or is JSON that readers may understand differently'
    const invalid = (rule: string) => [401, 'err.signature.invalid', `signature: ${rule}`]
    const cases: [body: string, told: unknown, headers?: Record<string, string>][] = [
      ['{', [400, 'err.request.bad', json]],
      [ok.replace('"header":', '"header": {}, "header":'), [400, 'err.request.bad', json]],
      ['[]', [400, 'err.request.bad', 'body: must be an object with a message']],
      ['{"message": {}}', [400, 'err.request.bad', 'header: sender_id, action and message_id must be texts']],
      [header({ message_id: 7 }), [400, 'err.request.bad', 'header: sender_id, action and message_id must be texts']],
      [ok, [415, 'err.request.bad', 'Content-Type: must be application/json'], { 'Content-Type': 'text/plain' }],
      [`${ok}${' '.repeat(10_485_760)}`, [413, 'err.request.bad', 'body: is too long']],
      [
        header({ sender_id: 'stranger.example' }),
        [403, 'err.sender_id.invalid', 'header.sender_id: must be a registry that this receiver knows'],
      ],
      [
        ok.replace(/"signature": "(?:[^"\\]|\\.)*", /, ''),
        [401, 'err.signature.missing', 'signature: the message is not signed'],
      ],
      [ok.replace('"tx-1"', '"tx-2"'), invalid('no key of the sender has signed this header and message')],
      [signed(onSearch(), {}, STRANGER), invalid('no key of the sender has signed this header and message')],
      [ok.replace('k-1', 'k-2'), invalid('no key of the sender has signed this header and message')],
      [
        signed(onSearch(), { parameters: { kidId: 'other.example|k-1|ed25519' } }),
        invalid('kidId must name the sender_id of the header, and a key of it'),
      ],
      [signed(onSearch(), {}, ES256), invalid('the algorithm must be one that is accepted of this sender')],
      [signed(onSearch(), { parameters: { namespace: 'x' } }), invalid('namespace and headers must be those that are accepted')],
      [signed(onSearch(), times(1.5, 7)), invalid('created and expires must be Unix times in whole seconds')],
      [signed(onSearch(), times(now - 900, now - 600)), invalid('is not fresh')],
      [signed(onSearch(), times(now + 600, now + 900)), invalid('is not fresh')],
      [signed(onSearch(), times(now, now + 3_601)), invalid('is not fresh')],
      [signed(onSearch(), { parameters: { more: 1 } }), invalid('must be a list of name="value", seven of them, each once')],
      [
        ok.replace(/"signature": "(?:[^"\\]|\\.)*"/, `"signature": "${'a'.repeat(1_000_000)}"`),
        invalid('must be a list of name="value", seven of them, each once'),
      ],
      [signed(onSearch(), { parameters: { signature: 'AA' } }), invalid('must be base64 in its one spelling')],
      [header({ receiver_id: 'other.example' }), [400, 'err.receiver_id.invalid', 'header.receiver_id: is not this system']],
      [
        header({ message_ts: new Date(Date.now() - 361 * 3_600_000).toISOString() }),
        [400, 'err.request.bad', 'header.message_ts: is too old, or in the future'],
      ],
      [
        header({ message_ts: new Date(Date.now() + 600_000).toISOString() }),
        [400, 'err.request.bad', 'header.message_ts: is too old, or in the future'],
      ],
      [
        header({ message_ts: '2026-02-30T09:15:00' }),
        [400, 'err.request.bad', 'header.message_ts: must be a date-time with a time zone'],
      ],
      [header({ is_msg_encrypted: true }), [400, 'err.encryption.invalid', 'message: encrypted messages are not read here']],
      [header({ action: 'search' }), [404, 'err.request.not_found', 'header.action: nothing here takes it']],
    ]
    for (const [body, told, headers] of cases) expect(await post(body, headers)).toEqual(told)
    expect(await post(ok)).toEqual([200, 'ACK', 'c-1'])
    // A notification that was composed when the receiver began to be away, for as long as one is sent.
    const old = header({ message_ts: new Date(Date.now() - 14 * 86_400_000).toISOString() })
    expect(await post(old)).toEqual([200, 'ACK', 'c-1'])
    expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(3)

    const { post: postWithToken } = await receiving(context, file, { CALLBACK_AUTHORIZATION: 'Bearer right' })
    const unauthorized = [401, 'err.request.unauthorized', 'the access token is missing or not valid']
    expect(await postWithToken(ok)).toEqual(unauthorized)
    expect(await postWithToken(ok, { Authorization: 'Bearer wrong' })).toEqual(unauthorized)
    expect(await postWithToken(ok, { Authorization: 'Bearer right' })).toEqual([200, 'ACK', 'c-1'])
  })
})

test.each([
  ['python.md', PYTHON],
  ['java.md', JAVA],
])('docs/%s shows what the programs print', async (name, language) => {
  const page = await readFile(new URL(`../docs/${name}`, import.meta.url), 'utf8')
  expect(page).toContain(`\n${await expectedCounts(language)}\nall as expected\n`)
  const found = 'by civil.rollcall.example, verified: 1 record'
  expect(page).toContain(`\nanswered ${found}\ncalled back ${found}\n`)
})

test('each example is one file of at most 540 lines', async () => {
  for (const file of ['python/rollcall.py', 'java/Rollcall.java']) {
    const text = await readFile(join(import.meta.dirname, file), 'utf8')
    expect({ file, isShort: text.trimEnd().split('\n').length <= 540 }).toEqual({ file, isShort: true })
  }
})
