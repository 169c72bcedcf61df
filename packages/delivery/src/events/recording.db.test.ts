import { publishEvent } from '@rollcall/admin/events/publish'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { addRegistry } from '@rollcall/records/registries/registries'
import { expect, test } from 'vitest'
import { acting } from '../../../admin/test/acting.ts'
import { testDatabase } from '../../../keys/test/postgres.ts'
import { subscribeLive } from '../../test/subscriptions.ts'

const limits = DEFAULT_LIMITS

test('two databases of one process have subscriptions with the same id and other filters', async () => {
  const matched: number[] = []
  for (const sex of ['F', 'M']) {
    const { db, close } = await testDatabase()
    const registry = await addRegistry(db, { namespace: 'civil', kind: 'civil', sender_id: 'crvs.example' })
    await subscribeLive(db, registry, 'UPDATE', { $and: [{ uin: { eq: 'U-1' } }, { sex: { eq: sex } }] })
    const record = { identifier: [{ identifier_type: 'UIN', identifier_value: 'U-1' }], sex: 'M' }
    const event = { namespace: 'civil', reg_event_type: 'UPDATE', record }
    matched.push((await publishEvent(acting({ db, limits }), event)).matched)
    await close()
  }
  expect(matched).toEqual([0, 1])
})
