/** The examples in Python and Java: which answers they believe, and after which they ask again. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { demoHome } from '../packages/cli/test/asking.ts'
import { CIVIL, SIGNER, signed } from '../packages/client/test/callbacks.ts'
import { finding, issue, loopback, type Respond, refusing } from '../packages/client/test/loopback.ts'
import { keyPair } from '../packages/core/test/key-pairs.ts'
import type { Unsigned } from '../packages/delivery/test/stranger/signing.ts'
import { programOrSkip } from '../test/programs.ts'
import { ended, JAVA, javaOrSkip, PYTHON } from './test/languages.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-answers-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe.each([PYTHON, JAVA])('$name', (language) => {
  const publishing: Respond = () => CIVIL.keys as object
  interface Surroundings {
    readonly tokens?: Respond
    readonly keys?: Respond
    /** How many searches the program makes before the one that is called back; by default each gets one answer. */
    readonly searches?: number
    /** The words that start the program. */
    readonly program?: readonly string[]
  }

  /** The lines that the example prints when a registry answers its searches in this way, one after the other. */
  async function toldOf(context: TestContext, answers: readonly Respond[], { tokens, ...others }: Surroundings = {}) {
    const {
      keys = publishing,
      searches = answers.length - 1,
      program = await language.words(context, 'try_demo', folder),
    } = others
    let answered = 0
    const respond: Respond = (asked, response) =>
      (asked.path.endsWith('/jwks.json') ? keys : answers[answered++])?.(asked, response)
    const registry = await loopback([respond], tokens)
    onTestFinished(() => registry.close())
    const sign = { kid: 'sig-1', privateJwk: keyPair('Ed25519').privateJwk }
    const participant = { sender_id: 'sp.example', client_id: 'id', secret: 's', sign, encrypt: keyPair('X25519') }
    const home = await demoHome(registry.url, participant, ['civil'])
    onTestFinished(() => home.remove())
    const identifiers = Array.from({ length: searches }, (_, at) => `UIN=${at}`)
    return ended([...program, join(home.path, 'demo.json'), ...identifiers])
  }

  /** An answer to a search, signed by the registry, with these changes. */
  const answering =
    (changes: { header?: object; message?: object }, signer = SIGNER): Respond =>
    async (asked, response) => {
      const answer = (await finding([], changes)(asked, response)) as Unsigned
      response.end(signed(answer, {}, signer))
      return undefined
    }
  /** Changes of an answer: no item was processed. */
  const rejected = (why: object) => ({ header: { status: 'rjct', ...why }, message: { search_response: [] } })
  const STRANGER = { ...SIGNER, privateJwk: keyPair('Ed25519').privateJwk }

  test('believes no answer but that of its registry to its own question', async (context) => {
    const told = await toldOf(context, [
      answering(rejected({ status_reason_code: 'rjct.message_ts.invalid', status_reason_message: 'is old' })),
      answering(rejected({})),
      finding([]),
      answering({}, STRANGER),
      answering({ header: { receiver_id: 'other.example' } }),
      answering({ header: { sender_id: 'other.example' } }),
      answering({ message: { transaction_id: 'another' } }),
      answering({ header: { is_msg_encrypted: true } }),
      (_, response) => void response.writeHead(500).end('<html>') as undefined,
      refusing(403, 'err.request.forbidden'),
      refusing(403, 'err.request.forbidden'),
    ])
    const lines = [
      'rjct.message_ts.invalid: is old',
      'rjct: nothing was processed',
      'err.signature.missing: signature: the message is not signed',
      'err.signature.invalid: signature: no key of the sender has signed this header and message',
      'err.receiver_id.invalid: header.receiver_id: the answer is not for us',
      'err.signature.invalid: signature: kidId must name the sender_id of the header, and a key of it',
      'err.request.bad: message.transaction_id: the answer is to another request',
      'err.encryption.invalid: message: encrypted messages are not read here',
      'http: the registry answered HTTP 500',
      'err.request.forbidden: because of err.request.forbidden',
    ].map((text) => `refused: ${text}\n`)
    expect(told).toEqual({ code: 1, stdout: lines.join(''), stderr: lines.at(-1) })
    const token: Respond = (_, response) => void response.writeHead(401).end() as undefined
    const line = 'refused: token: the registry gave no access token (HTTP 401)\n'
    expect(await toldOf(context, [finding([])], { tokens: token })).toEqual({ code: 1, stdout: line, stderr: line })
  })

  test('gives the items of an answer, also where each was rejected', async (context) => {
    const item = { reference_id: '1', status: 'rjct', status_reason_code: 'rjct.reference_id.duplicate' }
    const header = { status: 'rjct', status_reason_code: 'rjct.errors.too_many' }
    const { stdout, stderr } = await toldOf(context, [
      answering({ header, message: { search_response: [item] } }),
      // Of a question whose reply has no items, this is the result.
      answering({ header: { status: 'rjct' }, message: { search_response: { 0: item } } }),
      refusing(403, 'err.request.forbidden'),
    ])
    expect(stdout).toMatch(/^answered by civil.example, verified: rejected, rjct.reference_id.duplicate\n/)
    expect(stdout + stderr).not.toContain('refused: rjct')
  })

  test('asks again where another attempt may be answered', async (context) => {
    const asked: string[] = []
    const at =
      (name: string, ...answers: Respond[]): Respond =>
      (...request) => {
        asked.push(name)
        return (answers.length > 1 ? answers.shift() : answers[0])?.(...request)
      }
    const away: Respond = (_, response) => void response.writeHead(503, { 'Retry-After': '0' }).end() as undefined
    const breaking =
      (headers: Record<string, string | number>): Respond =>
      (_, response) =>
        void response.writeHead(200, headers).write('{"header":', () => response.destroy()) as undefined
    const answers = [
      at('broken off', breaking({ 'Content-Length': 1_000 })),
      ...[at('token refused', refusing(401, 'err.request.unauthorized')), at('found', answering({}))],
      ...[at('signature refused', refusing(401, 'err.signature.invalid')), at('last', refusing(403, 'err.x'))],
    ]
    const others = {
      tokens: at('token', away, issue),
      keys: at('keys', breaking({ 'Transfer-Encoding': 'chunked' }), publishing),
    }
    const { stdout } = await toldOf(context, answers, { searches: 2, ...others })
    expect(asked).toEqual([
      ...['token', 'token', 'broken off', 'token refused', 'token', 'found'],
      ...['keys', 'keys', 'signature refused', 'last'],
    ])
    const refused = 'refused: err.signature.invalid: because of err.signature.invalid\n'
    expect(stdout).toBe(`answered by civil.example, verified: 0 records\n${refused}`)
  })

  // In Python, each read has a time limit.
  if (language === JAVA) {
    test('waits for no answer whose end does not come', async (context) => {
      const quick = await mkdtemp(join(folder, 'quick-'))
      const [java = '', ...options] = await javaOrSkip(context, folder)
      const path = `${quick}:${options.at(-1)}`
      const text = await readFile(join(import.meta.dirname, 'java/Rollcall.java'), 'utf8')
      await writeFile(join(quick, 'Rollcall.java'), text.replace('Duration.ofSeconds(30)', 'Duration.ofSeconds(2)'))
      await ended([programOrSkip(context, 'javac'), '-cp', path, '-d', quick, join(quick, 'Rollcall.java')])
      const half: Respond = (_, response) => void response.writeHead(200).write('{"header":') as undefined
      // A busy machine may need more attempts.
      const whole: Respond = (asked, response) =>
        (asked.path.endsWith('/sync/search') ? answering({}) : refusing(403, 'err.x'))(asked, response)
      const program = [java, ...options.slice(0, -1), path, 'TryDemo']
      const told = await toldOf(context, [half, whole, whole, whole, whole], { searches: 1, program })
      expect(told.stdout).toBe('answered by civil.example, verified: 0 records\n')
    })
  }
})
