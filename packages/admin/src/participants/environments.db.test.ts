/** Sandbox and live: nothing of one is granted in the other, by any function, and neither changes by a file. */

import { addGrant } from '@rollcall/participants/store/grants'
import { findParticipant } from '@rollcall/participants/store/participants'
import { requireRegistry } from '@rollcall/records/registries/registries'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type TestDatabase, testDatabase } from '../../../keys/test/postgres.ts'
import { acting } from '../../test/acting.ts'
import { applyConfiguration, exportConfiguration } from '../configuration/apply.ts'
import { setGrant } from '../grants/grant-changes.ts'
import { explainGrant, listGrants } from '../grants/grants.ts'
import { addRegistry, listRegistries } from '../registries/registries.ts'
import { addParticipant, listParticipants } from './participants.ts'

let database: TestDatabase
beforeAll(async () => {
  database = await testDatabase()
  await addRegistry(acting(database), { kind: 'civil' })
  await addRegistry(acting(database), { kind: 'civil', environment: 'sandbox' })
  await addParticipant(acting(database), { sender_id: 'live.example', name: 'L' })
  await addParticipant(acting(database), { sender_id: 'tried.example', name: 'T', environment: 'sandbox' })
})
afterAll(() => database.close())

const terms = { operations: 'all', see: 'all', basis: 'law' } as const
const SANDBOX_IN_LIVE =
  'the registry civil is live and the participant is sandbox; rollcall participant promote makes a participant live'
const LIVE_IN_SANDBOX =
  'the registry civil-test is sandbox and the participant is live; add a sandbox participant for it with rollcall participant add --sandbox'
const refused = (work: Promise<unknown>) =>
  work.then(
    () => 'nothing',
    (error: Error) => error.message,
  )
const apply = (configuration: object) =>
  applyConfiguration(acting({ db: database.db, vault: () => Promise.reject(new Error('no vault is needed')) }), {
    configuration: { version: 1, ...configuration },
  })

test('a sandbox registry is at the kind and -test, and lists say what is what', async () => {
  const registries = await listRegistries(database, {})
  expect(registries.map(({ namespace, environment }) => [namespace, environment])).toEqual([
    ['civil', 'live'],
    ['civil-test', 'sandbox'],
  ])
  const participants = await listParticipants(database, {})
  expect(participants.map(({ sender_id, environment }) => [sender_id, environment])).toEqual([
    ['live.example', 'live'],
    ['tried.example', 'sandbox'],
  ])
})

describe('a grant across', () => {
  test.each([
    ['tried.example', 'civil', SANDBOX_IN_LIVE],
    ['live.example', 'civil-test', LIVE_IN_SANDBOX],
  ])('%s in %s is refused by grant set, a file and the store', async (sender_id, namespace, message) => {
    expect(await refused(setGrant(acting(database), { sender_id, namespace, terms }))).toBe(message)
    expect(await refused(apply({ participants: { [sender_id]: { grants: { [namespace]: terms } } } }))).toBe(
      `participants["${sender_id}"].grants.${namespace}: ${message}`,
    )
    const participant = await findParticipant(database.db, sender_id)
    const registry = await requireRegistry(database.db, namespace)
    if (participant === null) throw new Error('there is none')
    expect(await refused(addGrant(database.db, { participant, registry }, terms, { replace: true }))).toBe(message)
    expect(await listGrants(database, { sender_id })).toEqual([])
    expect(await refused(explainGrant(database, { sender_id, namespace }))).toBe(
      `${sender_id} has no grant in force in ${namespace}: it may do nothing there; ${message}`,
    )
  })

  test('is refused with a new participant, which is then not added', async () => {
    const added = addParticipant(acting(database), {
      sender_id: 'new.example',
      name: 'N',
      environment: 'sandbox',
      grants: { civil: terms },
    })
    expect(await refused(added)).toBe(`grants.civil: ${SANDBOX_IN_LIVE}`)
    expect(await findParticipant(database.db, 'new.example')).toBeNull()
  })

  test('is refused for what one file adds', async () => {
    const file = {
      registries: { 'farmer-test': { kind: 'farmer', environment: 'sandbox' } },
      participants: { 'farm.example': { name: 'F', grants: { 'farmer-test': terms } } },
    }
    expect(await refused(apply(file))).toBe(
      'participants["farm.example"].grants.farmer-test: the registry farmer-test is sandbox and the participant is live; add a sandbox participant for it with rollcall participant add --sandbox',
    )
    const participants = { 'farm.example': { ...file.participants['farm.example'], environment: 'sandbox' } }
    await apply({ ...file, participants })
    expect(await listGrants(database, { sender_id: 'farm.example' })).toHaveLength(1)
  })
})

test('a file does not change an environment, and an export has it', async () => {
  expect(await refused(apply({ registries: { civil: { kind: 'civil', environment: 'sandbox' } } }))).toBe(
    'registries.civil.environment: cannot be changed; add a registry at another namespace',
  )
  expect(await refused(apply({ participants: { 'tried.example': { environment: 'live' } } }))).toBe(
    'participants["tried.example"].environment: cannot be changed here; rollcall participant promote makes a sandbox participant live',
  )
  const exported = await exportConfiguration(database, {})
  expect(exported.registries?.['civil-test']).toMatchObject({ kind: 'civil', environment: 'sandbox' })
  expect(exported.participants?.['tried.example']).toMatchObject({ environment: 'sandbox' })
  expect((await apply(exported)).changes).toEqual([])
})
