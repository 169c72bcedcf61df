import { createSemaphore } from '@rollcall/base/shared/semaphore'
import { createMetrics } from '@rollcall/observe/metrics'
import { RequestFault } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import type { TokensTaken, TokensWanted } from '../store/quotas.ts'
import { createQuota, type QuotaOwner } from './quota.ts'

const plenty = async ({ wanted }: TokensWanted): Promise<TokensTaken> => ({ granted: wanted, left: 1_000 })
const empty = async (): Promise<TokensTaken> => ({ granted: 0, left: 0 })
const metrics = createMetrics(() => ({ total: 0, idle: 0, waiting: 0 }))

function quota(
  take: (asked: TokensWanted) => Promise<TokensTaken> = plenty,
  changes = {},
  delay?: (work: () => void, milliseconds: number) => void,
) {
  const limits = {
    participant_rate: 100,
    participant_concurrency: 2,
    total_rate: 1_000,
    total_concurrency: 3,
    total_bytes: 1_000,
    ...changes,
  }
  return createQuota({ limits, metrics, take, turns: createSemaphore(1), ...(delay && { delay }) })
}

const participant = (id: number, changes: Partial<QuotaOwner> = {}): QuotaOwner => ({
  id,
  rate_limit: null,
  concurrency_limit: null,
  ...changes,
})

async function refusal(entering: Promise<unknown>): Promise<object> {
  const fault = await entering.catch((error: unknown) => error)
  expect(fault).toBeInstanceOf(RequestFault)
  const { code, httpStatus, retryAfter, message } = fault as RequestFault
  expect({ code, httpStatus }).toEqual({ code: 'err.request.too_many_requests', httpStatus: 429 })
  return { retryAfter, message }
}

describe('requests at a time', () => {
  it('are limited for each participant', async () => {
    const { enter } = quota()
    const first = await enter(participant(1))
    await enter(participant(1))
    const refused = { retryAfter: 1, message: 'too many requests: at most 2 requests of a participant at a time' }
    expect(await refusal(enter(participant(1)))).toEqual(refused)
    await enter(participant(2))
    first.leave()
    first.leave()
    await enter(participant(1))
    expect(await refusal(enter(participant(1)))).toEqual(refused)
  })

  it('are limited for all together', async () => {
    const { enter } = quota()
    const [first] = await Promise.all([1, 2, 3].map((id) => enter(participant(id))))
    expect(await refusal(enter(participant(4)))).toEqual({
      retryAfter: 1,
      message: 'too many requests: the service is busy; try again later',
    })
    first?.leave()
    await enter(participant(4))
  })

  it('hold so many bytes of a participant, and of all; one that is alone is not bounded', async () => {
    const { enter } = quota(plenty, { participant_concurrency: 3, total_concurrency: 9 })
    const held = async (visit: { hold(bytes: number): void }, bytes: number) => visit.hold(bytes)
    const [one, two] = [await enter(participant(1)), await enter(participant(1))]
    one.hold(2_000)
    expect(await refusal(held(two, 1))).toEqual({
      retryAfter: 1,
      message: 'too many requests: at most 500 bytes of a participant at a time',
    })
    const other = await enter(participant(2))
    expect(await refusal(held(other, 1))).toEqual({
      retryAfter: 1,
      message: 'too many requests: the service is busy; try again later',
    })
    one.leave()
    one.leave()
    two.hold(500)
    other.hold(300)
    other.hold(200)
    await refusal(held(two, 1))
    await refusal(held(other, 1))
    two.leave()
    other.hold(3_000)
  })

  it('may be a limit of its own, or none', async () => {
    const { enter } = quota(plenty, { total_concurrency: 1_000 })
    await enter(participant(1, { concurrency_limit: 1 }))
    await refusal(enter(participant(1, { concurrency_limit: 1 })))
    const unlimited = participant(2, { concurrency_limit: Infinity })
    expect(await Promise.all(Array.from({ length: 500 }, () => enter(unlimited)))).toHaveLength(500)
  })

  it('count what still waits for its rate, and not what was refused or failed', async () => {
    const answers: ((granted: TokensTaken) => void)[] = []
    const { enter } = quota(() => new Promise((resolve) => answers.push(resolve)))
    const waiting = [enter(participant(1)), enter(participant(1))].map(refusal)
    expect(await refusal(enter(participant(1)))).toMatchObject({ message: expect.stringContaining('at a time') })
    answers[0]?.({ granted: 0, left: 0 })
    await Promise.all(waiting)
    expect(await refusal(enter(participant(1)))).toMatchObject({ message: expect.stringContaining('a second') })

    const failing = quota(() => Promise.reject(new Error('away')))
    for (let request = 0; request < 5; request += 1) {
      await expect(failing.enter(participant(1))).rejects.toThrow('away')
    }
  })
})

describe('requests a second', () => {
  it('are limited for each participant', async () => {
    expect(await refusal(quota(empty).enter(participant(1)))).toEqual({
      retryAfter: 1,
      message: 'too many requests: at most 100 requests of a participant a second',
    })
    expect(await refusal(quota(empty).enter(participant(1, { rate_limit: 0.25 })))).toEqual({
      retryAfter: 4,
      message: 'too many requests: at most 0.25 requests of a participant a second',
    })
  })

  it('are limited for all together, and what all refused the participant keeps', async () => {
    const asked: string[] = []
    const take = async ({ bucket, wanted }: TokensWanted): Promise<TokensTaken> => {
      asked.push(bucket)
      return bucket === 'total' ? { granted: 0, left: 0 } : { granted: wanted, left: 0 }
    }
    const { enter } = quota(take)
    const unlimited = participant(1, { rate_limit: 1 })
    for (let request = 0; request < 3; request += 1) {
      expect(await refusal(enter(unlimited))).toEqual({
        retryAfter: 1,
        message: 'too many requests: the service is busy; try again later',
      })
    }
    expect(asked).toEqual(['participant 1', 'total'])
  })

  it('may have no limit for a participant; the limit of all counts for it too', async () => {
    const asked: string[] = []
    const take = async (question: TokensWanted): Promise<TokensTaken> => {
      asked.push(question.bucket)
      return plenty(question)
    }
    await quota(take).enter(participant(1, { rate_limit: Infinity }))
    expect(asked).toEqual(['total'])
  })
})

it('counts refusals by quota, without naming the participant', async () => {
  const { text } = await metrics.render()
  const lines = text.split('\n').filter((line) => line.startsWith('rollcall_quota_refusals_total'))
  const named = lines.map((line) => /^rollcall_quota_refusals_total\{quota="(\w+)"\} [1-9]/.exec(line)?.[1])
  expect(named.sort()).toEqual([
    'participant_bytes',
    'participant_concurrency',
    'participant_rate',
    'total_bytes',
    'total_concurrency',
    'total_rate',
  ])
})

describe('large requests', () => {
  it('of one participant are in work one after the other; others have turns of their own', async () => {
    const { enter } = quota(plenty, { participant_concurrency: 4, total_concurrency: 9 })
    const visits = await Promise.all([1, 1, 1, 2].map((id) => enter(participant(id))))
    const begun: number[] = []
    const turns = visits.map((visit, at) => visit.waitForLargeTurn().then(() => begun.push(at)))
    await Promise.all([turns[0], turns[3]])
    expect(begun).toEqual([0, 3])
    // One that leaves before its turn takes nobody's.
    visits[1]?.leave()
    await turns[3]
    expect(begun).toEqual([0, 3])
    visits[0]?.leave()
    await Promise.all(turns)
    expect(begun.toSorted()).toEqual([0, 1, 2, 3])
  })

  it('that was refused keeps its turn a moment longer; one that ended its turn keeps nothing', async () => {
    const later: (() => void)[] = []
    const delay = (work: () => void, milliseconds: number): void => {
      expect(milliseconds).toBe(100)
      later.push(work)
    }
    const { enter } = quota(plenty, { participant_concurrency: 4 }, delay)
    const [first, second] = [await enter(participant(1)), await enter(participant(1))]
    await first.waitForLargeTurn()
    const turn = second.waitForLargeTurn().then(() => 'begun')
    first.leave({ refused: true })
    expect(await Promise.race([turn, Promise.resolve('waiting')])).toBe('waiting')
    expect(later).toHaveLength(1)
    later[0]?.()
    expect(await turn).toBe('begun')
    second.endLargeTurn()
    second.leave({ refused: true })
    expect(later).toHaveLength(1)
  })
})
