/** Records whose identifiers are being backfilled, and protected persons whom they name. */

import { protectPerson } from '@rollcall/admin/persons/protected-persons'
import { IDENTIFIER_ROWS_GROUP_NAME } from '@rollcall/core/model/registry'
import { afterAll, expect, it } from 'vitest'
import { acting } from '../../../../admin/test/acting.ts'
import { backfillColumns } from '../../../../records/src/records/backfill.ts'
import { testServer } from '../../server.ts'

const server = await testServer()
afterAll(() => server.close())
const { db } = server.database

it('nobody is protected meanwhile, and what is backfilled notes whom it names', async () => {
  const uin = { identifier_type: 'UIN', identifier_value: 'U-1' }
  const member_identifier = [uin]
  const registry = await server.registry('social', [
    { '@type': 'Member', member_identifier },
    {
      '@type': 'Group',
      member_list: [{ member_identifier }],
      group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H-1' }],
    },
  ])
  const protect = () => protectPerson(acting({ db }), { namespace: 'social', ...uin, category: 'shelter', reason: 'Order 7' })
  const fill = [registry.id, IDENTIFIER_ROWS_GROUP_NAME]
  await db.pool.query(`insert into column_fill values ($1, 'Group', $2)`, fill)
  await expect(protect()).rejects.toThrow(
    'namespace: identifiers of its records are being backfilled; nobody can be protected until that is done',
  )
  await db.pool.query('delete from column_fill')
  expect(await protect()).toMatchObject({ records: 1, rewritten: 1 })

  await db.pool.query('delete from protected_reference')
  await db.pool.query(`insert into column_fill values ($1, 'Group', $2)`, fill)
  const group = registry.kind.record_types.find(({ name }) => name === 'Group')
  if (group === undefined) throw new Error('no record type Group')
  expect(await backfillColumns(db, registry, group)).toBe(true)
  const { rows } = await db.pool.query('select record_type from protected_reference')
  expect(rows).toEqual([{ record_type: 'Group' }])
})
