/** Admin functions that show or change what belongs to persons have an audit entry, with who called them. */

import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { addConsentAuthority, removeConsentAuthority } from '@rollcall/admin/consents/authorities'
import { reinstateConsent, revokeConsents, withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { cancelDeliveries } from '@rollcall/admin/deliveries/changes'
import { listEvents } from '@rollcall/admin/events/list'
import { revokeGrant, setGrant } from '@rollcall/admin/grants/grant-changes'
import { showGrantTemplate } from '@rollcall/admin/grants/grants'
import { traceMessages } from '@rollcall/admin/messages/trace'
import { addParticipant as addNew } from '@rollcall/admin/participants/participants'
import { listHolds } from '@rollcall/admin/persons/holds'
import { listProtectedPersons, protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { deleteRecords } from '@rollcall/admin/records/records'
import { addParticipant } from '@rollcall/participants/store/participants'
import { afterAll, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { keyPair } from '../../../../core/test/key-pairs.ts'
import { memoryAuditLog } from '../../../../settings/test/audit-log.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
await server.registry('civil')
const { db } = server.database

it('before they show anything: the name of the act and of the operator, and never a value', async () => {
  const auditLog = memoryAuditLog()
  const deps = { db, auditLog, caller: { kind: 'shell', user: 'ada' } as const }
  await traceMessages(acting(deps), { id: 'tx-secret' })
  await listEvents(acting(deps), { namespace: 'civil' })
  expect(auditLog.written.map(({ entry }) => [entry.kind, entry.operator, entry.note, entry.registry])).toEqual([
    ['operator', 'ada', 'trace', null],
    ['operator', 'ada', 'events list', 'civil'],
  ])
  expect(JSON.stringify(auditLog.written)).not.toContain('tx-secret')
})

it('a dry run as what it is: the preview of an act is not the act', async () => {
  const auditLog = memoryAuditLog()
  const deps = { db, auditLog, caller: { kind: 'shell', user: 'ada' } as const, limits: { changed_deliveries: 10 } }
  await cancelDeliveries(acting(deps), { state: 'pending', dry_run: true })
  // The audit entry comes before the refusal: nothing waits.
  await expect(cancelDeliveries(acting(deps), { state: 'pending' })).rejects.toThrow('none of these is')
  expect(auditLog.written.map(({ entry }) => entry.note)).toEqual(['deliveries cancel (dry run)', 'deliveries cancel'])
})

it('of consents: withdrawals, reinstatements, and who may sign them', async () => {
  const auditLog = memoryAuditLog()
  const deps = { db, vault: server.context.vault, auditLog, caller: { kind: 'shell', user: 'ada' } as const }
  const authority = { name: 'https://consent.example' }
  const person = { identifier_type: 'UIN', identifier_value: 'U-secret', purpose: 'eligibility' }
  await addPurpose(acting({ db }), { code: 'eligibility' })
  await addConsentAuthority(acting(deps), { ...authority, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] })
  await withdrawConsent(acting(deps), person)
  await withdrawConsent(acting(deps), { authority: authority.name, jti: 'j-secret' })
  await reinstateConsent(acting(deps), person)
  await revokeConsents(acting(deps), { authority: authority.name, revoked: ['j-secret'] })
  await removeConsentAuthority(acting(deps), authority)
  expect(auditLog.written.map(({ entry }) => entry.note)).toEqual([
    ...['consent authority add', 'consent withdraw', 'consent withdraw', 'consent reinstate', 'consent revoke'],
    'consent authority remove',
  ])
  expect(JSON.stringify(auditLog.written)).not.toContain('secret')
})

it('of records, of who is hidden, of what is kept, and of what is granted', async () => {
  const auditLog = memoryAuditLog()
  const deps = { db, auditLog, caller: { kind: 'shell', user: 'ada' } as const, limits: server.context.limits }
  const person = { namespace: 'civil', identifier_type: 'UIN', identifier_value: 'U-secret' }
  await protectPerson(acting(deps), { ...person, category: 'shelter', reason: 'secret' })
  await listProtectedPersons(acting(deps), { namespace: 'civil' })
  await unprotectPerson(acting(deps), person)
  await deleteRecords(acting(deps), { namespace: 'civil', record_type: 'Person', identifiers: ['U-secret'] })
  await listHolds(acting(deps), {})
  await addParticipant(db, { sender_id: 'sp.example', name: 'SP' })
  const place = { sender_id: 'sp.example', namespace: 'civil' }
  await setGrant(acting(deps), {
    ...place,
    terms: await showGrantTemplate(deps, { namespace: 'civil', template: 'eligibility' }),
  })
  await revokeGrant(acting(deps), place)
  expect(auditLog.written.map(({ entry }) => [entry.note, entry.registry])).toEqual([
    ['record protect', 'civil'],
    ['record protected list', 'civil'],
    ['record unprotect', 'civil'],
    ['record delete', 'civil'],
    ['hold list', null],
    ['grant set', 'civil'],
    ['grant revoke', 'civil'],
  ])
  expect(JSON.stringify(auditLog.written)).not.toContain('secret')
})

it('of what is granted with a participant, and by a configuration', async () => {
  const auditLog = memoryAuditLog()
  const deps = { db, vault: server.context.vault, auditLog, caller: { kind: 'shell', user: 'ada' } as const }
  const terms = await showGrantTemplate({ db }, { namespace: 'civil', template: 'eligibility' })
  await addNew(acting(deps), { sender_id: 'new.example', name: 'New', grants: { civil: terms } })
  await addNew(acting(deps), { sender_id: 'without.example', name: 'Without' })
  const configuration = { version: 1, participants: { 'other.example': { name: 'Other', grants: { civil: terms } } } }
  await applyConfiguration(acting(deps), { configuration, dry_run: true })
  await applyConfiguration(acting(deps), { configuration })
  await applyConfiguration(acting(deps), { configuration })
  expect(auditLog.written.map(({ entry }) => [entry.operator, entry.note, entry.registry])).toEqual([
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
  const auditLog = memoryAuditLog()
  const deps = { db, vault: server.context.vault, auditLog, caller: { kind: 'shell', user: 'ada' } as const }
  const keys = [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }]
  const before = (await exportConfiguration({ db }, {})).consent_authorities
  const of = (consent_authorities: object) => ({ configuration: { version: 1, consent_authorities } })
  const added = of({ ...before, 'https://applied.example': { keys } })
  await applyConfiguration(acting(deps), { ...added, dry_run: true })
  await applyConfiguration(acting(deps), added)
  await applyConfiguration(acting(deps), added)
  await applyConfiguration(acting(deps), of(before ?? {}))
  expect(auditLog.written.map(({ entry }) => [entry.operator, entry.note])).toEqual([
    ['ada', 'apply (dry run)'],
    ['ada', 'apply'],
    ['ada', 'apply: consent authority add'],
    ['ada', 'apply'],
    ['ada', 'apply'],
    ['ada', 'apply: consent authority remove'],
  ])
})

it('show nothing where that cannot be written', async () => {
  const deps = {
    db,
    caller: { kind: 'shell', user: 'ada' } as const,
    auditLog: { write: () => Promise.reject(new Error('no audit log')) },
  }
  await expect(traceMessages(acting(deps), { id: 'tx-1' })).rejects.toThrow('no audit log')
})
