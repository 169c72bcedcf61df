import { describe, expect, it } from 'vitest'
import { may } from './permission.ts'

const REGISTRY = { id: 1 }
const ACTIVE = { status: 'active', unfiltered_subscriptions: false } as const
const ALLOWED = { allowed: true }

describe('may', () => {
  it('an active participant do everything', () => {
    for (const operation of ['subscribe', 'unsubscribe', 'notify', 'search']) {
      expect(may(ACTIVE, REGISTRY, { operation, event_type: 'Death', record_type: 'Person' })).toEqual(
        ALLOWED,
      )
    }
  })

  it('a disabled participant do nothing', () => {
    expect(may({ ...ACTIVE, status: 'disabled' }, REGISTRY, { operation: 'search' })).toEqual({
      allowed: false,
      reason: 'this participant is disabled',
    })
  })

  it('a participant go without a filter only where that is set', () => {
    const wanted = { operation: 'subscribe', unfiltered: true }
    expect(may(ACTIVE, REGISTRY, wanted)).toEqual({
      allowed: false,
      reason: 'this participant may not subscribe without a filter',
    })
    expect(may({ ...ACTIVE, unfiltered_subscriptions: true }, REGISTRY, wanted)).toEqual(ALLOWED)
    expect(may(ACTIVE, REGISTRY, { ...wanted, unfiltered: false })).toEqual(ALLOWED)
  })
})
