/** A record of a sandbox registry neither joins live persons nor stands in the way of what is done for them. */

import { auditPerson } from '@rollcall/admin/audit/person-accesses'
import { withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { deleteRecords } from '@rollcall/admin/records/records'
import type { Registry } from '@rollcall/core/model/registry'
import { addRegistry } from '@rollcall/records/registries/registries'
import { expect, test } from 'vitest'
import { findPerson } from '../../../../admin/src/persons/person.ts'
import { acting } from '../../../../admin/test/acting.ts'
import { auditEntry } from '../../../../settings/test/audit-log.ts'
import { audited, depsOf, erased, type World, world } from '../../restoring.ts'
import { writeDocuments } from '../../server.ts'

const document = (identifiers: Record<string, string>) => ({
  '@type': 'Person',
  identifier: Object.entries(identifiers).map(([identifier_type, identifier_value]) => ({ identifier_type, identifier_value })),
  name: { surname: 'Synthetic' },
})

async function start(): Promise<{ at: World; sandbox: Registry; deps: ReturnType<typeof depsOf> }> {
  const at = await world()
  const sandbox = await addRegistry(at.db, {
    namespace: 'civil-test',
    kind: 'civil',
    sender_id: 'civil-test.example',
    environment: 'sandbox',
  })
  return { at, sandbox, deps: depsOf(at) }
}

const identifiersOf = async ({ db }: World, type: string, value: string) =>
  (await findPerson(db, { type, value })).identifiers.map((one) => `${one.type}:${one.value}`).sort()

async function withdrawn({ ownerDb }: World): Promise<readonly number[]> {
  const { rows } = await ownerDb.pool.query<{ many: number }>(
    'select cardinality(pseudonyms) as many from consent_withdrawal order by id',
  )
  return rows.map(({ many }) => many)
}

test('it joins no live persons: in an audit, an erasure, a withdrawal', async () => {
  const { at, sandbox, deps } = await start()
  await audited(deps, '2')
  await deps.auditLog.write(auditEntry({ operation: 'search' }), [{ role: 'seen', identifiers: [{ type: 'NID', value: 'N-9' }] }])
  await writeDocuments(at, sandbox, [document({ UIN: '2', NID: 'N-9' })])
  const audit = await auditPerson(acting(deps), { type: 'UIN', value: '2' })
  expect(audit.identifier_types).toEqual(['UIN'])
  expect(audit.seen.flatMap(({ identifier_types }) => identifier_types)).toEqual(['UIN'])
  await addPurpose(acting(deps), { code: 'pension' })
  const person = { identifier_type: 'UIN', identifier_value: '2', purpose: 'pension' }
  await withdrawConsent(acting(deps), person)
  expect(await withdrawn(at)).toEqual([1])
  await erased(deps, '2')
  expect((await auditPerson(acting(deps), { type: 'NID', value: 'N-9' })).seen).toHaveLength(1)
})

test('two records of a sandbox with the identifier of a live person refuse nothing', async () => {
  const { at, sandbox, deps } = await start()
  await writeDocuments(at, at.civil, [document({ UIN: '20', BRN: 'B-20' })])
  await writeDocuments(at, sandbox, [document({ UIN: '21', BRN: 'B-20' }), document({ UIN: '22', BRN: 'B-20' })])
  expect(await identifiersOf(at, 'BRN', 'B-20')).toEqual(['BRN:B-20', 'UIN:20'])
  await addPurpose(acting(deps), { code: 'pension' })
  await withdrawConsent(acting(deps), { identifier_type: 'BRN', identifier_value: 'B-20', purpose: 'pension' })
  expect(await withdrawn(at)).toEqual([2])
})

test('a person of the sandbox alone is found there, without what a live record bears', async () => {
  const { at, sandbox, deps } = await start()
  await writeDocuments(at, sandbox, [document({ UIN: '900', BRN: 'B-900' })])
  expect(await identifiersOf(at, 'UIN', '900')).toEqual(['BRN:B-900', 'UIN:900'])
  expect((await findPerson(at.db, { type: 'BRN', value: 'B-900' })).records).toMatchObject([
    { registry: { namespace: 'civil-test' } },
  ])
  await writeDocuments(at, at.civil, [document({ UIN: '30', BRN: 'B-900' })])
  expect(await identifiersOf(at, 'UIN', '900')).toEqual(['UIN:900'])
  expect((await auditPerson(acting(deps), { type: 'UIN', value: '900' })).identifier_types).toEqual(['UIN'])
  await addPurpose(acting(deps), { code: 'pension' })
  await withdrawConsent(acting(deps), { identifier_type: 'UIN', identifier_value: '900', purpose: 'pension' })
  expect(await withdrawn(at)).toEqual([1])
})

test('when the live record is deleted, that of the sandbox is the only one; the audit says what it looks for', async () => {
  const { at, sandbox, deps } = await start()
  await audited(deps, '2')
  await writeDocuments(at, sandbox, [document({ UIN: '2', NID: 'N-9' })])
  await deleteRecords(acting(deps), { namespace: 'civil', record_type: 'Person', identifiers: ['2'] })
  const audit = await auditPerson(acting(deps), { type: 'UIN', value: '2' })
  expect(audit.identifier_types).toEqual(['NID', 'UIN'])
  expect(audit.seen.map(({ registry }) => registry)).toEqual(['civil'])
})
