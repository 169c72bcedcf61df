/** Enrolment updates of a person whose record was merged into another one. */

import { mergeRecords, unmergeRecords } from '@rollcall/admin/records/merge'
import { expect, test } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { beneficiary, enrolment, enrolmentServer } from '../../enrolment-updates.ts'

const { server, update, found } = await enrolmentServer()
const { db } = server.database
const deps = { db, limits: { birth_span: 365, correction_time: 30 } }
const uin = (identifier_value: string) => ({ identifier_type: 'UIN', identifier_value })
const ledgers = async () => (await db.pool.query('select state, next_due from enrolment_ledger order by record')).rows

const programmesOf = (member: { programme_identifier: unknown }): readonly unknown[] =>
  [member.programme_identifier].flat().map((one) => (one as ReturnType<typeof enrolment>).programme.programme_identifier)

test('are written to that one, which keeps its identifiers; unmerge restores what updates had written', async () => {
  await update([beneficiary('M-1', enrolment('PRG-1')), beneficiary('M-2', enrolment('PRG-2'))])
  const [, before] = await ledgers()
  await mergeRecords(acting(deps), { namespace: 'ibr', survivor: uin('M-1'), retired: uin('M-2') })
  expect(await ledgers()).toHaveLength(1)
  expect(await update([beneficiary('M-2', enrolment('PRG-3'))])).toMatchObject([{ status: 'succ' }])
  const [{ member }] = await found('UIN', 'M-2')
  expect(await found('UIN', 'M-1')).toMatchObject([{ member }])
  expect(member.member_identifier).toBe('M-1')
  expect(programmesOf(member)).toEqual(['PRG-1', 'PRG-3'])
  await unmergeRecords(acting(deps), { namespace: 'ibr', retired: uin('M-2') })
  const [restored] = await found('UIN', 'M-2')
  expect(programmesOf(restored.member)).toEqual(['PRG-2'])
  expect((await ledgers())[1]).toEqual(before)
})
