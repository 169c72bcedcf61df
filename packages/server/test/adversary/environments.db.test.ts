/**
 * A sandbox participant and a live registry: no operation, callback, upload or status question is answered, even where a
 * grant was written into the database by hand, and the answer is that of a participant without a grant.
 */
import { CALLBACKS, KINDS, operationsOf } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { multipartBody, uploadParts } from '../../../engine/test/multipart.ts'
import { storedEntries } from '../../../settings/test/audit-log.ts'
import { exampleRequest } from '../example-requests.ts'
import { expectFault } from '../expectations.ts'
import { envelope } from '../inbox.ts'
import { type Peer, searchBy, searchUrl, sendAs, signedBody } from '../sealing.ts'
import { bearer, post } from '../server.ts'
import { UPLOAD_TYPE } from '../uploading.ts'
import { adversary } from './world.ts'

const NOT_VALID = 'Authorization: the access token is not valid here or has expired; ask for a new one'
const NOTHING = 'nothing in this registry is granted to this participant'

const { server, peer, refused } = await adversary()
for (const { name } of KINDS) if (name !== 'civil') await server.registry(name)
await server.registry('civil', [], 'civil-test', 'sandbox')
// Each of them has a grant in every registry: a row that no function of ours would write.
const sandbox = await peer('tried.example', { settings: { environment: 'sandbox' } })
const live = await peer('live.example')
const ungranted = await peer('nobody.example')
await server.database.db.pool.query(
  `delete from participant_grant using participant
    where participant.id = participant and sender_id = 'nobody.example'`,
)

const send = (namespace: string, path: string, body: string, by: Peer, type = 'application/json') =>
  post(`${server.url}/${namespace}/v1.0.0/${path}`, body, { ...bearer(by), 'Content-Type': type })

async function expectForbidden(answering: ReturnType<typeof post>): Promise<void> {
  const answer = await answering
  refused.push(answer)
  expectFault(answer, 403, 'err.request.forbidden', NOTHING)
}

const signed = (by: Peer, message: { header: object; message: object }): string =>
  signedBody(by, { ...message, header: { ...message.header, sender_id: by.sender_id, message_ts: new Date().toISOString() } })

/** The number of traces that an accepted message leaves. */
async function traces(sender_id: string): Promise<number> {
  const tables = ['exchange', 'accepted_exchange', 'inbox_message', 'subscription', 'delivery', 'sealed_message']
  let count = 0
  for (const table of tables) {
    const { rowCount } = await server.database.db.pool.query(
      `select from ${table} join participant on participant.id = participant where sender_id = $1`,
      [sender_id],
    )
    count += rowCount ?? 0
  }
  return count
}

describe.each(KINDS.map((kind) => [kind.name, kind] as const))('a live registry of kind %s', (name, kind) => {
  const requests = operationsOf(kind).flatMap((operation) =>
    [...operation.sync_paths, ...operation.async_paths].map((path) => ({ path, message: exampleRequest(kind, operation) })),
  )
  const callbacks = CALLBACKS.map(({ name: callback, path }) => ({ path, message: envelope(callback) }))

  it('answers a sandbox participant at no path', async () => {
    for (const { path, message } of [...requests, ...callbacks]) {
      await expectForbidden(send(name, path, signed(sandbox, message as never), sandbox))
    }
    expect(await traces(sandbox.sender_id)).toBe(0)
  })

  it('answers as it answers a live participant without a grant', async () => {
    for (const { path, message } of requests) {
      const answers = [sandbox, ungranted].map((by) => send(name, path, signed(by, message), by))
      const [one, other] = await Promise.all(answers)
      const shown = (answer: typeof one) => [
        answer?.status,
        answer?.body.message.error,
        [...(answer?.headers.keys() ?? [])].sort(),
      ]
      expect(shown(one)).toEqual(shown(other))
    }
  })
})

describe('what is shown beside the token does not help', () => {
  it('an upload', async () => {
    const parts = uploadParts({ envelope: signed(sandbox, searchBy(sandbox)), file: 'a,b\n1,2\n' })
    const url = `${server.url}/civil/v1.0.0/registry/search`
    const headers = { ...bearer(sandbox), 'Content-Type': UPLOAD_TYPE }
    await expectForbidden(post(url, new Uint8Array(multipartBody(parts)), headers))
  })

  it('the name of a live participant in the header, signed by the sandbox key or by nobody', async () => {
    const message = searchBy(live)
    await expectForbidden(sendAs(server, sandbox, signedBody({ ...live, signer: sandbox.signer }, message)))
    await expectForbidden(sendAs(server, sandbox, message))
  })

  it('the token of a live participant with the key or the name of the sandbox one', async () => {
    const forged = await sendAs(
      server,
      live,
      signedBody({ ...live, signer: { ...sandbox.signer, kid: live.signer.kid } }, searchBy(live)),
    )
    refused.push(forged)
    expectFault(forged, 401, 'err.signature.invalid', 'signature: the signature does not belong to this header and message')
    const named = await sendAs(server, live, signedBody(sandbox, searchBy(sandbox)))
    refused.push(named)
    expectFault(
      named,
      403,
      'err.sender_id.invalid',
      'header.sender_id: must be the participant that the access token was issued to',
    )
  })

  it('the name of the sandbox registry as receiver', async () => {
    const message = searchBy(sandbox, { header: { receiver_id: 'civil-test.example' } })
    await expectForbidden(sendAs(server, sandbox, signedBody(sandbox, message)))
  })
})

it('a live participant is not let into a sandbox registry', async () => {
  await expectForbidden(sendAs(server, live, signedBody(live, searchBy(live)), 'civil-test'))
})

it('each is answered where it belongs', async () => {
  for (const [by, namespace] of [
    [live, 'civil'],
    [sandbox, 'civil-test'],
  ] as const) {
    const { status } = await sendAs(server, by, signedBody(by, searchBy(by)), namespace)
    expect([namespace, status]).toEqual([namespace, 200])
  }
})

describe('a token', () => {
  const claims = (token: string) => JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())

  it('says that it is for the sandbox, and is valid for no live participant', async () => {
    expect(claims(sandbox.token)).toMatchObject({ sub: sandbox.sender_id, environment: 'sandbox' })
    expect(claims(live.token)).not.toHaveProperty('environment')
    const { access_token: token } = await server.context.tokens.issue({ ...live, environment: 'sandbox' })
    const answer = await sendAs(server, { ...live, token }, signedBody(live, searchBy(live)))
    refused.push(answer)
    expectFault(answer, 401, 'err.request.unauthorized', NOT_VALID)
  })

  it('of a live participant is none for a sandbox one', async () => {
    const { access_token: token } = await server.context.tokens.issue({ ...sandbox, environment: 'live' })
    const body = signedBody(sandbox, searchBy(sandbox))
    const answer = await sendAs(server, { ...sandbox, token }, body, 'civil-test')
    refused.push(answer)
    expectFault(answer, 401, 'err.request.unauthorized', NOT_VALID)
  })

  it('of a participant is none for the admin API', async () => {
    const response = await fetch(`${server.adminUrl}/admin/v1/participants`, { headers: bearer(sandbox) })
    expect(response.status).toBe(401)
  })
})

it('the refusals have audit entries like others', async () => {
  await post(searchUrl(server), signedBody(sandbox, searchBy(sandbox)), bearer(sandbox))
  await server.context.refusals.flush()
  expect((await storedEntries(server.database.db)).map(({ entry }) => entry)).toContainEqual(
    expect.objectContaining({
      kind: 'refusal',
      participant: sandbox.sender_id,
      registry: 'civil',
      operation: 'search',
      outcomes: { 'err.request.forbidden': expect.any(Number) },
    }),
  )
})
