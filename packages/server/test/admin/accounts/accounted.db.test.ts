/** Admin functions that show or change what belongs to persons are accounted for, with who called them. */

import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { addConsentAuthority, removeConsentAuthority } from '@rollcall/admin/consents/authorities'
import { reinstateConsent, revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { cancelDeliveries } from '@rollcall/admin/deliveries/changes'
import { listEvents } from '@rollcall/admin/events/list'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { grantTemplate } from '@rollcall/admin/grants/grants'
import { trace } from '@rollcall/admin/messages/trace'
import { addParticipant as addNew } from '@rollcall/admin/participants/participants'
import { listHolds } from '@rollcall/admin/persons/holds'
import { listProtected, protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { deleteRecords } from '@rollcall/admin/records/records'
import { addParticipant } from '@rollcall/participants/store/participants'
import { afterAll, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { memoryAccounts } from '../../../../settings/test/accounts.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
const { db } = server.database

it('before they show anything: the name of the act and of the operator, and never a value', async () => {
  const accounts = memoryAccounts()
  const needs = { db, accounts, caller: { kind: 'shell', user: 'ada' } as const }
  await trace(acting(needs), { id: 'tx-secret' })
  await listEvents(acting(needs), { namespace: 'civil' })
  expect(accounts.written.map(({ entry }) => [entry.kind, entry.operator, entry.note, entry.registry])).toEqual([
    ['operator', 'ada', 'trace', null],
    ['operator', 'ada', 'events list', 'civil'],
  ])
  expect(JSON.stringify(accounts.written)).not.toContain('tx-secret')
})

it('a dry run as what it is: the preview of an act is not the act', async () => {
  const accounts = memoryAccounts()
  const needs = { db, accounts, caller: { kind: 'shell', user: 'ada' } as const, limits: { changed_deliveries: 10 } }
  await cancelDeliveries(acting(needs), { state: 'pending', dry_run: true })
  // Accounted before it is refused: nothing waits.
  await expect(cancelDeliveries(acting(needs), { state: 'pending' })).rejects.toThrow('none of these is')
  expect(accounts.written.map(({ entry }) => entry.note)).toEqual(['deliveries cancel (dry run)', 'deliveries cancel'])
})

it('of consents: withdrawals, reinstatements, and who may sign them', async () => {
  const accounts = memoryAccounts()
  const needs = { db, vault: server.context.vault, accounts, caller: { kind: 'shell', user: 'ada' } as const }
  const authority = { name: 'https://consent.example' }
  const person = { identifier_type: 'UIN', identifier_value: 'U-secret', purpose: 'eligibility' }
  await addPurpose(acting({ db }), { code: 'eligibility' })
  await addConsentAuthority(acting(needs), { ...authority, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] })
  await withdrawConsent(acting(needs), person)
  await withdrawConsent(acting(needs), { authority: authority.name, jti: 'j-secret' })
  await reinstateConsent(acting(needs), person)
  await revokeConsents(acting(needs), { authority: authority.name, revoked: ['j-secret'] })
  await removeConsentAuthority(acting(needs), authority)
  expect(accounts.written.map(({ entry }) => entry.note)).toEqual([
    ...['consent authority add', 'consent withdraw', 'consent withdraw', 'consent reinstate', 'consent revoke'],
    'consent authority remove',
  ])
  expect(JSON.stringify(accounts.written)).not.toContain('secret')
})

it('of records, of who is hidden, of what is kept, and of what is granted', async () => {
  const accounts = memoryAccounts()
  const needs = { db, accounts, caller: { kind: 'shell', user: 'ada' } as const, limits: server.context.limits }
  const person = { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'U-secret' }
  await protectPerson(acting(needs), { ...person, category: 'shelter', reason: 'secret' })
  await listProtected(acting(needs), { namespace: 'civil' })
  await unprotectPerson(acting(needs), person)
  await deleteRecords(acting(needs), { namespace: 'civil', record_type: 'Person', identifiers: ['U-secret'] })
  await listHolds(acting(needs), {})
  await addParticipant(db, { sender_id: 'sp.example', name: 'SP' })
  const place = { sender_id: 'sp.example', namespace: 'civil' }
  await setGrant(acting(needs), {
    ...place,
    terms: await grantTemplate(needs, { namespace: 'civil', template: 'eligibility' }),
  })
  await revokeGrant(acting(needs), place)
  expect(accounts.written.map(({ entry }) => [entry.note, entry.registry])).toEqual([
    ['record protect', 'civil'],
    ['record protected list', 'civil'],
    ['record unprotect', 'civil'],
    ['record delete', 'civil'],
    ['hold list', null],
    ['grant set', 'civil'],
    ['grant revoke', 'civil'],
  ])
  expect(JSON.stringify(accounts.written)).not.toContain('secret')
})

it('of what is granted with a participant, and by a configuration', async () => {
  const accounts = memoryAccounts()
  const needs = { db, vault: server.context.vault, accounts, caller: { kind: 'shell', user: 'ada' } as const }
  const terms = await grantTemplate({ db }, { namespace: 'civil', template: 'eligibility' })
  await addNew(acting(needs), { sender_id: 'new.example', name: 'New', grants: { civil: terms } })
  await addNew(acting(needs), { sender_id: 'without.example', name: 'Without' })
  const configuration = { version: 1, participants: { 'other.example': { name: 'Other', grants: { civil: terms } } } }
  await applyConfiguration(acting(needs), { configuration, dry_run: true })
  await applyConfiguration(acting(needs), { configuration })
  await applyConfiguration(acting(needs), { configuration })
  expect(accounts.written.map(({ entry }) => [entry.operator, entry.note, entry.registry])).toEqual([
    ['ada', 'participant add', null],
    ['ada', 'participant add --grant', 'civil'],
    ['ada', 'participant add', null],
    ['ada', 'apply (dry run)', null],
    ['ada', 'apply', null],
    ['ada', 'apply: participant add', null],
    ['ada', 'apply: grant set', 'civil'],
    ['ada', 'apply', null],
  ])
})

it('of who may sign consents, by a configuration', async () => {
  const accounts = memoryAccounts()
  const needs = { db, vault: server.context.vault, accounts, caller: { kind: 'shell', user: 'ada' } as const }
  const keys = [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }]
  const before = (await exportConfiguration({ db }, {})).consent_authorities
  const of = (consent_authorities: object) => ({ configuration: { version: 1, consent_authorities } })
  const added = of({ ...before, 'https://applied.example': { keys } })
  await applyConfiguration(acting(needs), { ...added, dry_run: true })
  await applyConfiguration(acting(needs), added)
  await applyConfiguration(acting(needs), added)
  await applyConfiguration(acting(needs), of(before ?? {}))
  expect(accounts.written.map(({ entry }) => [entry.operator, entry.note])).toEqual([
    ['ada', 'apply (dry run)'],
    ['ada', 'apply'],
    ['ada', 'apply: consent authority add'],
    ['ada', 'apply'],
    ['ada', 'apply'],
    ['ada', 'apply: consent authority remove'],
  ])
})

it('show nothing where that cannot be written', async () => {
  const needs = {
    db,
    caller: { kind: 'shell', user: 'ada' } as const,
    accounts: { write: () => Promise.reject(new Error('no account')) },
  }
  await expect(trace(acting(needs), { id: 'tx-1' })).rejects.toThrow('no account')
})
