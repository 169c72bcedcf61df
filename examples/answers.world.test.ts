/** The examples in Python and Java: which answers they believe, and after which they ask again. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, onTestFinished, type TestContext, test } from 'vitest'
import { demoHome } from '../packages/cli/test/asking.ts'
import { CIVIL, SIGNER, signed } from '../packages/client/test/callbacks.ts'
import { finding, loopback, type Respond, refusing } from '../packages/client/test/loopback.ts'
import { keyPair } from '../packages/core/test/key-pairs.ts'
import type { Unsigned } from '../packages/delivery/test/stranger/signing.ts'
import { ended, JAVA, PYTHON } from './test/languages.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'rollcall-answers-'))
})
afterAll(() => rm(folder, { recursive: true }))

describe.each([PYTHON, JAVA])('$name', (language) => {
  /** The lines that the example prints when a registry answers its searches in this way, one after the other. */
  async function toldOf(context: TestContext, answers: readonly Respond[], tokens?: Respond) {
    let searches = 0
    const respond: Respond = (asked, response) =>
      asked.path.endsWith('/jwks.json') ? (CIVIL.keys as object) : answers[searches++]?.(asked, response)
    const registry = await loopback([respond], tokens)
    onTestFinished(() => registry.close())
    const sign = { kid: 'sig-1', privateJwk: keyPair('Ed25519').privateJwk }
    const participant = { sender_id: 'sp.example', client_id: 'id', secret: 's', sign, encrypt: keyPair('X25519') }
    const home = await demoHome(registry.url, participant, ['civil'])
    onTestFinished(() => home.remove())
    const identifiers = answers.slice(1).map((_, at) => `UIN=${at}`)
    return ended([...(await language.words(context, 'try_demo', folder)), join(home.path, 'demo.json'), ...identifiers])
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
      (_, response) => void response.writeHead(502).end('<html>') as undefined,
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
      'http: the registry answered HTTP 502',
      'err.request.forbidden: because of err.request.forbidden',
    ].map((text) => `refused: ${text}\n`)
    expect(told).toEqual({ code: 1, stdout: lines.join(''), stderr: lines.at(-1) })
    const token: Respond = (_, response) => void response.writeHead(401).end() as undefined
    const line = 'refused: token: the registry gave no access token (HTTP 401)\n'
    expect(await toldOf(context, [finding([])], token)).toEqual({ code: 1, stdout: line, stderr: line })
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
})
