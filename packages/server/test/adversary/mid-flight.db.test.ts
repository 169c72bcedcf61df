/** What changes while messages are being answered: keys are rotated, keys and participants go. */

import { revokeOwnKey, rotateOwnKeys } from '@rollcall/keys/rotation'
import { revokeParticipantKey } from '@rollcall/participants/store/participant-keys'
import { setParticipantStatus } from '@rollcall/participants/store/participants'
import { recordTable } from '@rollcall/records/records/record-tables'
import { readConfig } from '@rollcall/settings/config'
import { openVault } from '@rollcall/settings/storage'
import { expect, it } from 'vitest'
import { isSigned, parametersOf } from '../../../delivery/test/stranger/signing.ts'
import { holdTable, lockWaits } from '../../../keys/test/held-table.ts'
import { expectFault } from '../expectations.ts'
import {
  encrypted,
  opened,
  publishedKey,
  publishedKeys,
  registered,
  sealingPeer,
  searchBy,
  sendAs,
  signedBody,
} from '../sealing.ts'
import { type Answer, MASTER_KEY } from '../server.ts'
import { adversary } from './world.ts'

const { server, peer: newPeer, refused } = await adversary()
const ada = await newPeer('ada.example', { decrypts: 'RSA' })

const vault = () => openVault(readConfig({ ROLLCALL_MASTER_KEY: MASTER_KEY }), server.database.db)
/** For what comes as soon as the machine has the time. */
const PATIENT = { timeout: 20_000 }
const kidOf = ({ body }: Answer): string => parametersOf(body.signature).kidId?.split('|')[1] ?? ''

it('rotating our keys under load loses no request, and old signatures verify with the new key set', async () => {
  const before = await publishedKeys(server)
  const encryptionKey = await publishedKey(server, 'RSA-OAEP-256')
  const answers: Answer[] = []
  let going = true
  const client = async (sealed: boolean): Promise<void> => {
    while (going) {
      const clear = searchBy(ada)
      // A client that keeps the key set it once fetched.
      const sent = sealed ? encrypted(clear, encryptionKey) : clear
      answers.push(await sendAs(server, ada, signedBody(ada, sent)))
    }
  }
  const clients = [client(false), client(false), client(true)]
  const kidsSeen = () => new Set(answers.map(kidOf)).size
  await expect.poll(kidsSeen, PATIENT).toBe(1)
  for (const kids of [2, 3]) {
    await rotateOwnKeys(server.database.db, await vault())
    server.clock.pass(1_000)
    await expect.poll(kidsSeen, PATIENT).toBe(kids)
  }
  await expect.poll(() => answers.length, PATIENT).toBeGreaterThan(20)
  going = false
  await Promise.all(clients)
  const after = await publishedKeys(server)
  for (const answer of answers) {
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(answer.body.header.status).toBe('succ')
    expect(isSigned(JSON.stringify(answer.body), 'civil.example', after)).toBe(true)
    if (answer.body.header.is_msg_encrypted) expect(opened(answer, ada).transaction_id).toBe('tx-1')
  }
  // The first of the new keys was in the key set that the client had before: it can verify without asking again.
  const kids = new Set(answers.map(kidOf))
  expect(kids.size).toBe(3)
  expect([...kids].filter((kid) => before.some((key) => key.kid === kid))).toHaveLength(2)
})

it('after revoking our signing key another one signs, within a second', async () => {
  const first = await sendAs(server, ada, signedBody(ada, searchBy(ada)))
  await revokeOwnKey(server.database.db, await vault(), kidOf(first))
  server.clock.pass(1_000)
  const next = await sendAs(server, ada, signedBody(ada, searchBy(ada)))
  const keys = await publishedKeys(server)
  expect(kidOf(next)).not.toBe(kidOf(first))
  expect(isSigned(JSON.stringify(next.body), 'civil.example', keys)).toBe(true)
  expect(isSigned(JSON.stringify(first.body), 'civil.example', keys)).toBe(false)
})

/** Until a search waits for the lock. */
const searchWaits = () => expect.poll(() => lockWaits(server.database), PATIENT).toBeGreaterThan(0)

/** Holds searches up while `work` runs. */
async function whileSearchesStand(work: () => Promise<void>): Promise<void> {
  const registry = await server.context.directory.registry('civil')
  if (registry === undefined) throw new Error('no registry')
  const { identifierTable } = recordTable(registry, registry.kind.record_types[0])
  const held = await holdTable(server.database, identifierTable)
  try {
    await work()
  } finally {
    await held.release()
  }
}

it('a participant whose key goes while its message is answered gets nothing in clear', async () => {
  const peer = await sealingPeer(server, 'leaving.example', { decrypts: 'RSA' })
  const body = signedBody(peer, encrypted(searchBy(peer), await publishedKey(server, 'RSA-OAEP-256')))
  let asked: Promise<Answer> | undefined
  await whileSearchesStand(async () => {
    asked = sendAs(server, peer, body)
    await searchWaits()
    await revokeParticipantKey(server.database.db, await registered(server, peer.sender_id), 'enc-1')
    server.clock.pass(1_000)
  })
  const answer = await asked
  if (answer === undefined) throw new Error('nothing was asked')
  refused.push(answer)
  const text = 'message: there is no usable key of the sender to encrypt the answer with'
  expectFault(answer, 400, 'err.encryption.invalid', text)
})

it('a participant that is disabled while its message is answered gets this answer and no other', async () => {
  const peer = await sealingPeer(server, 'disabled.example')
  let asked: Promise<Answer> | undefined
  await whileSearchesStand(async () => {
    asked = sendAs(server, peer, signedBody(peer, searchBy(peer)))
    await searchWaits()
    await setParticipantStatus(server.database.db, peer.sender_id, 'disabled')
    server.clock.pass(1_000)
    const answer = await sendAs(server, peer, signedBody(peer, searchBy(peer)))
    refused.push(answer)
    const text = 'Authorization: the access token is not valid here or has expired; ask for a new one'
    expectFault(answer, 401, 'err.request.unauthorized', text)
  })
  expect((await asked)?.body.header.status).toBe('succ')
})
