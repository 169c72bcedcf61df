/**
 * What belongs to another participant is answered like what nobody has: every operation, with every object that a message
 * can name, over HTTP. Code, text and shape are the same, and so are the statements that the database gets.
 */
import { randomUUID } from 'node:crypto'
import { CALLBACKS, KINDS, type Kind, OPERATIONS, type Operation, operationsOf } from '@rollcall/protocol'
import { afterAll, describe, expect, it } from 'vitest'
import { keyPair } from '../../../core/test/key-pairs.ts'
import { bodyText, type Signer, signature } from '../../../delivery/test/stranger/signing.ts'
import { multipartBody, uploadParts } from '../../../engine/test/multipart.ts'
import { testClock } from '../../../observe/test/clock.ts'
import { type Got, gotten, masked } from '../answers.ts'
import { type AsyncPeer, asyncPeer, byIdentifier, callbacksTo, searchFor } from '../asynchronous.ts'
import { exampleRecords, exampleRequest } from '../example-requests.ts'
import { envelope, rowOf } from '../inbox.ts'
import { registerKey, searchBy } from '../sealing.ts'
import { bearer, post, QUIET, type TestParticipant, testServer } from '../server.ts'
import { noteStatements } from '../statements.ts'
import { about, codeOf, subscribeFor, unsubscribeFor } from '../subscribing.ts'
import { question } from '../txn-status.ts'
import { csvOf, envelopeOf, UPLOAD_TYPE } from '../uploading.ts'

// The clock stands still, so that what is read once stays read, and every other statement is caused by a message.
const server = await testServer({ limits: { participant_rate: 1_000_000, token_failures: 10_000 } }, testClock(), QUIET)
/** Read anew by the time alone, whatever is asked; audit entries of refusals are written after the answer, several at once. */
const BY_TIME = /join breaker|\bbody_key\b|select next_due|from own_key|insert into account_entry/
const statements = noteStatements(BY_TIME)
afterAll(async () => {
  statements.stop()
  await server.close()
})
for (const kind of KINDS) await server.registry(kind.name, exampleRecords(kind))
const owner = await asyncPeer(server, 'owner.example')
const stranger = await asyncPeer(server, 'other.example')
const keys = { owner: keyPair('Ed25519'), stranger: keyPair('Ed25519') }
await registerKey(server, owner.sender_id, keys.owner, { use: 'sig', kid: 'key-of-owner' })
await registerKey(server, stranger.sender_id, keys.stranger, { use: 'sig', kid: 'key-of-other' })
// The keys are valid from now on, and the clock stood still before.
server.clock.pass(10_000)

/** Where each operation is tried. */
const kindOf = (operation: Operation): Kind => {
  const found = KINDS.find((kind) => operationsOf(kind).includes(operation))
  if (found === undefined) throw new Error(`no kind has ${operation.name}`)
  return found
}

/** Each operation at its first path of each mode. */
const PATHS = OPERATIONS.flatMap((operation) => [
  ...operation.sync_paths.slice(0, 1).map((path) => ({ operation, path })),
  ...operation.async_paths.slice(0, 1).map((path) => ({ operation, path })),
])

interface Named {
  readonly message_id?: string
  readonly transaction_id?: string
  readonly reference_id?: string
}

/** The example of an operation, with these names in it. */
function requestOf(operation: Operation, by: TestParticipant, named: Named): Got {
  const { header, message } = exampleRequest(kindOf(operation), operation)
  const { sender_uri: _, receiver_id: __, ...others } = header
  const { message_id = `m-${randomUUID()}`, transaction_id = `t-${randomUUID()}`, reference_id } = named
  const renamed = JSON.stringify(message, (name, value) =>
    name === 'reference_id' && reference_id !== undefined ? reference_id : value,
  )
  const message_ts = new Date().toISOString()
  return {
    header: { ...others, message_ts, message_id, sender_id: by.sender_id },
    message: { ...JSON.parse(renamed), transaction_id },
  }
}

const sendTo = (namespace: string, path: string, body: object | string, by: TestParticipant) =>
  post(`${server.url}/${namespace}/v1.0.0/${path}`, body, bearer(by))

/** A name that nobody has, of the same form. */
const nobodys = (value: string): string =>
  /^[0-9a-f]{8}-/.test(value) ? randomUUID() : value.slice(0, -8) + randomUUID().slice(0, 8).toUpperCase()

/** The names stand for themselves, and may be of any length. */
const withoutNames = (got: Got, names: readonly string[]): string =>
  names.reduce((text, name) => text.replaceAll(name, 'NAMED'), JSON.stringify(got))

/** The stranger names what is the owner's, and what is nobody's: it gets the same, by the same statements. */
async function expectAlike(foreign: readonly string[], ask: (names: readonly string[]) => Promise<Got>): Promise<void> {
  const tried = (names: () => readonly string[]) => async () => {
    const asked = names()
    return masked(JSON.parse(withoutNames(await ask(asked), asked)))
  }
  const unknown = tried(() => foreign.map(nobodys))
  // The first one fills what is read once.
  await unknown()
  const { results, statements: sent } = await statements.compared(
    unknown,
    tried(() => foreign),
  )
  expect(results[1]).toBe(results[0])
  expect(sent[1]).toEqual(sent[0])
}

/** The owner's objects: names of an exchange of each operation and mode. */
const OWNED = new Map<string, Required<Named> & { readonly correlation_id: string }>()
for (const { operation, path } of PATHS) {
  const named = { message_id: `m-${randomUUID()}`, transaction_id: `t-${randomUUID()}`, reference_id: `r-${randomUUID()}` }
  const body = requestOf(operation, owner, named)
  const got = await gotten(server, owner, sendTo(kindOf(operation).name, path, body, owner))
  expect([operation.name, got.status]).toEqual([operation.name, 200])
  OWNED.set(path, { ...named, correlation_id: got.body.message.correlation_id ?? randomUUID() })
}
const ownedAt = (path: string) => OWNED.get(path) ?? expect.fail(`nothing was sent to ${path}`)
const [civil = expect.fail()] = KINDS
const SUBSCRIBED = 'UIN-OF-A-PERSON'
const code = await codeOf(server, owner, about(SUBSCRIBED), civil.name)

describe('txn-status', () => {
  const ATTRIBUTES = ['transaction_id', 'correlation_id', 'reference_id_list', 'subscription_code_list'] as const
  const OF: Readonly<Record<string, { readonly namespace: string; readonly path: string }>> = {
    search: { namespace: civil.name, path: 'registry/search' },
    subscribe: { namespace: civil.name, path: 'registry/subscribe' },
    unsubscribe: { namespace: civil.name, path: 'registry/unsubscribe' },
    receipt: { namespace: 'ibr', path: 'registry/enrollments/updates' },
  }
  const CASES = Object.entries(OF).flatMap(([type, place]) =>
    ATTRIBUTES.flatMap((attribute) =>
      (['registry/sync/txn/status', 'registry/txn/status'] as const).map((path) => [type, attribute, path, place] as const),
    ),
  )

  it.each(CASES)('%s by %s at %s', async (txn_type, attribute, path, { namespace, path: asked }) => {
    const owned = ownedAt(asked)
    const foreign = {
      transaction_id: owned.transaction_id,
      correlation_id: owned.correlation_id,
      reference_id_list: owned.reference_id,
      subscription_code_list: code,
    }[attribute]
    const ask = (by: AsyncPeer, value: string) =>
      gotten(
        server,
        by,
        sendTo(namespace, path, question(by, attribute, attribute.endsWith('_list') ? [value] : value, { txn_type }), by),
      )
    await expectAlike([foreign], ([value = '']) => ask(stranger, value))
  })

  it('finds them for their owner', async () => {
    for (const [txn_type, { namespace, path }] of Object.entries(OF)) {
      const { transaction_id } = ownedAt(path)
      const sent = question(owner, 'transaction_id', transaction_id, { txn_type })
      const { body } = await sendTo(namespace, 'registry/sync/txn/status', sent, owner)
      expect([txn_type, body.header.status]).toEqual([txn_type, 'succ'])
      expect(JSON.stringify(body)).not.toContain('names no transaction')
    }
  })
})

describe('subscriptions', () => {
  const ask = (codes: readonly string[]) =>
    gotten(server, stranger, sendTo(civil.name, 'registry/unsubscribe', unsubscribeFor(stranger, codes), stranger))

  it('unsubscribe by a code, alone', async () => {
    await expectAlike([code], (names) => ask(names))
  })

  it('unsubscribe by a code, beside one of its own', async () => {
    const own = await Promise.all(['A', 'B', 'C'].map((uin) => codeOf(server, stranger, about(`U-${uin}`), civil.name)))
    await expectAlike([code], ([value = '']) => ask([own.pop() ?? '', value]))
  })

  it('subscribe as somebody else has', async () => {
    await expectAlike([SUBSCRIBED], ([value = '']) =>
      gotten(server, stranger, sendTo(civil.name, 'registry/subscribe', subscribeFor(stranger, [about(value)]), stranger)),
    )
  })

  it('are still live, and the owner’s', async () => {
    const { rows } = await server.database.db.pool.query('select state from subscription where code = $1', [code])
    expect(rows).toEqual([{ state: 'live' }])
    const body = unsubscribeFor(owner, [code])
    const got = await gotten(server, owner, sendTo(civil.name, 'registry/unsubscribe', body, owner))
    expect(got.callbacks[0].envelope.header.status).toBe('succ')
  })
})

describe('keys, tokens and addresses', () => {
  const signed = (kid: string, privateJwk: Signer['privateJwk'], namedSender = stranger.sender_id) => {
    const body = searchBy(stranger)
    const value = signature(body, { kid, algorithm: 'EdDSA', privateJwk })
    const text = bodyText(body, value.replace(`"${stranger.sender_id}|`, `"${namedSender}|`))
    return gotten(server, stranger, sendTo(civil.name, 'registry/sync/search', text, stranger))
  }

  it('a signature that names the key of another participant', async () => {
    for (const { privateJwk } of [keys.owner, keys.stranger]) {
      await expectAlike(['key-of-owner'], ([kid = '']) => signed(kid, privateJwk))
    }
  })

  it('a signature in the name of another participant', async () => {
    await expectAlike(['owner.example'], ([sender = '']) => signed('key-of-owner', keys.owner.privateJwk, sender))
  })

  it('a message in the name of another participant', async () => {
    for (const { operation, path } of PATHS) {
      await expectAlike([owner.sender_id], ([sender_id = '']) =>
        gotten(
          server,
          stranger,
          sendTo(kindOf(operation).name, path, requestOf(operation, { ...stranger, sender_id }, {}), stranger),
        ),
      )
    }
  })

  it('an access token for another participant', async () => {
    await expectAlike([owner.client_id], ([client_id = '']) =>
      gotten(
        server,
        stranger,
        post(
          `${server.url}/oauth2/client/token`,
          new URLSearchParams({ grant_type: 'client_credentials', client_id, client_secret: stranger.secret }).toString(),
          { 'Content-Type': 'application/x-www-form-urlencoded' },
        ),
      ),
    )
  })

  it('an address of another participant', async () => {
    const address = `${owner.receiver.url}/mine`
    const asked = async (sender_uri: string) =>
      gotten(
        server,
        stranger,
        sendTo(
          civil.name,
          'registry/search',
          searchFor(stranger, [byIdentifier('UIN', 'U-1')], { header: { sender_uri } }),
          stranger,
        ),
      )
    const before = owner.receiver.received.length
    const [theirs, nobodysAddress] = [await asked(address), await asked(`${owner.receiver.url}/none`)]
    expect(masked(theirs)).toBe(masked(nobodysAddress))
    expect(theirs.status).toBe(400)
    expect(owner.receiver.received).toHaveLength(before)
  })
})

/** The last: from here on the stranger has transactions of these names too. */
describe('names in a message', () => {
  const NAMES = ['message_id', 'transaction_id', 'reference_id'] as const
  const CASES = PATHS.flatMap((row) => NAMES.map((name) => [row.operation.name, row.path, name, row] as const))

  it.each(CASES)('%s at %s: %s', async (_, path, name, { operation }) => {
    const { [name]: foreign } = ownedAt(path)
    await expectAlike([foreign], ([value]) =>
      gotten(server, stranger, sendTo(kindOf(operation).name, path, requestOf(operation, stranger, { [name]: value }), stranger)),
    )
  })

  it.each(CALLBACKS.map(({ name }) => name))('callback %s: message_id', async (name) => {
    const { path } = rowOf(name)
    const by = (participant: TestParticipant, message_id: string) =>
      sendTo(civil.name, path, envelope(name, { header: { sender_id: participant.sender_id, message_id } }), participant)
    const message_id = `in-${randomUUID()}`
    expect((await by(owner, message_id)).status).toBe(200)
    await expectAlike([message_id], ([value = '']) => gotten(server, stranger, by(stranger, value)))
  })

  it.each(CALLBACKS.map(({ name }) => name))('callback %s: the ids of a request or delivery', async (name) => {
    const { transaction_id, correlation_id } = ownedAt('registry/search')
    const delivered = callbacksTo(owner.receiver)[CALLBACKS.findIndex((callback) => callback.name === name)]
    const foreign = [transaction_id, correlation_id, delivered?.envelope.header.message_id ?? expect.fail()]
    await expectAlike(foreign, ([transaction = '', correlation = '', message_id = '']) => {
      const header = { sender_id: stranger.sender_id, message_id }
      const message =
        name === 'notify' ? { transaction_id: transaction } : { transaction_id: transaction, correlation_id: correlation }
      return gotten(server, stranger, sendTo(civil.name, rowOf(name).path, envelope(name, { header, message }), stranger))
    })
  })

  it('a file, under the message_id and transaction_id of another file', async () => {
    const file = csvOf([['UIN', 'U-1']])
    const message_ts = new Date().toISOString()
    const upload = (by: AsyncPeer, message_id: string, transaction_id: string) => {
      const header = { message_id, message_ts }
      const { message, ...sent } = envelopeOf(file, { header, message: { transaction_id } }, by.sender_id)
      const body = multipartBody(uploadParts({ file, envelope: { message, header: { ...sent.header, message_ts } } }))
      return gotten(
        server,
        by,
        post(`${server.url}/civil/v1.0.0/registry/search`, new Uint8Array(body), { ...bearer(by), 'Content-Type': UPLOAD_TYPE }),
      )
    }
    const foreign = [`m-${randomUUID()}`, `t-${randomUUID()}`]
    const [message_id = '', transaction_id = ''] = foreign
    const first = await upload(owner, message_id, transaction_id)
    expect(first.body.message.ack_status).toBe('ACK')
    await expectAlike(foreign, ([message = '', transaction = '']) => upload(stranger, message, transaction))
    // It is still the owner's: the same file again is known.
    expect((await upload(owner, message_id, transaction_id)).body.message.correlation_id).toBe(first.body.message.correlation_id)
  })
})
