/** Access tokens: one for all who ask, renewed in time and once when refused. */
import { afterEach, describe, expect, it, vi } from 'vitest'
import { TokenRefused } from '../src/index.ts'
import { finding, issue, json, type Respond, refusing } from './loopback.ts'

import { ADA, client, failure, QUICK, registry } from './world.ts'

afterEach(() => vi.useRealTimers())

describe('tokens', () => {
  it('are fetched once for all who ask', async () => {
    const asking = await client([finding([])])
    await Promise.all(Array.from({ length: 10 }, () => asking.search(ADA)))
    expect(registry.tokens.map(({ path, body }) => [path, body])).toEqual([
      ['/oauth2/client/token', { grant_type: 'client_credentials', client_id: 'id', client_secret: 'secret' }],
    ])
    const used = new Set(registry.asked.map(({ headers }) => headers.authorization))
    expect([...used]).toEqual([expect.stringMatching(/^Bearer token-\d+$/)])
  })

  it('are renewed once when they are refused', async () => {
    const asking = await client([refusing(401, 'err.request.unauthorized'), finding([])])
    await asking.search(ADA)
    const [first, second] = registry.asked.map(({ headers }) => headers.authorization)
    expect(registry.tokens).toHaveLength(2)
    expect(first).not.toBe(second)

    const refused = await client([refusing(401, 'err.request.unauthorized')])
    const error = await failure(refused.search(ADA))
    expect(error).toMatchObject({ name: 'AckError', code: 'err.request.unauthorized', httpStatus: 401 })
    expect(registry.asked).toHaveLength(2)
  })

  it('are not renewed when it is the signature that is refused', async () => {
    const asking = await client([refusing(401, 'err.signature.missing')])
    expect(await failure(asking.search(ADA))).toMatchObject({ code: 'err.signature.missing' })
    expect(registry.tokens).toHaveLength(1)
  })

  it('are renewed before they expire', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    const short: Respond = () => ({ access_token: `t-${registry.tokens.length}`, expires_in: 100 })
    const asking = await client([finding([])], {}, short)
    for (const seconds of [0, 89, 2]) {
      vi.advanceTimersByTime(seconds * 1_000)
      await asking.search(ADA)
    }
    expect(registry.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer t-1', 'Bearer t-1', 'Bearer t-2'])
  })

  it('live on while the token endpoint is away, until they expire', async () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    let away = false
    const token: Respond = (_asked, response) => (away ? json(response, 503, {}) : { access_token: 'first', expires_in: 100 })
    const asking = await client([finding([])], { retry: { ...QUICK, attempts: 1 } }, token)
    await asking.search(ADA)
    away = true
    vi.advanceTimersByTime(95_000)
    await asking.search(ADA)
    expect(registry.tokens).toHaveLength(2)
    expect(registry.asked[1]?.headers.authorization).toBe('Bearer first')
    vi.advanceTimersByTime(6_000)
    expect(await failure(asking.search(ADA))).toMatchObject({
      name: 'TransportError',
      reason: 'unreachable',
      message: 'the token endpoint does not answer at the moment',
      httpStatus: 503,
    })
  })

  it('are refused with the reason that the endpoint gives', async () => {
    const wrong: Respond = (_asked, response) =>
      json(response, 401, { error: 'invalid_client', error_description: 'client_secret is wrong' })
    const error = await failure((await client([finding([])], {}, wrong)).search(ADA))
    expect(error).toBeInstanceOf(TokenRefused)
    expect(error).toMatchObject({ code: 'invalid_client', message: 'client_secret is wrong', httpStatus: 401 })
  })

  it.each([
    [
      404,
      { message: { ack_status: 'ERR' }, errors: [{ code: 'err.request.not_found', message: 'another port' }] },
      { code: 'err.request.not_found', message: 'another port' },
    ],
    [400, {}, { reason: 'unreadable', message: 'HTTP status 400 without an error of this protocol' }],
  ])('are not said to be refused where no token endpoint answers: %s', async (status, body, expected) => {
    const other: Respond = (_asked, response) => json(response, status, body)
    expect(await failure((await client([finding([])], {}, other)).search(ADA))).toMatchObject(expected)
  })

  it('that cannot be renewed are asked for as often as any, and the request fails with them', async () => {
    let issued = 0
    const once: Respond = (asked, response) => {
      issued += 1
      return issued === 1 ? issue(asked, response) : json(response, 503, {})
    }
    const asking = await client([refusing(401, 'err.request.unauthorized')], {}, once)
    expect(await failure(asking.search(ADA))).toMatchObject({
      name: 'TransportError',
      message: 'the token endpoint does not answer at the moment',
      attempts: 4,
    })
    expect([registry.asked.length, registry.tokens.length]).toEqual([1, 5])
  })

  it('that do not come keep nobody who has had enough; others wait on', async () => {
    const gate = Promise.withResolvers<void>()
    const slow: Respond = (asked, response) => gate.promise.then(() => issue(asked, response))
    const asking = await client([finding([])], {}, slow)
    const signal = AbortSignal.timeout(50)
    const patient = asking.search(ADA)
    expect(await failure(asking.search(ADA, { signal }))).toBe(signal.reason)
    gate.resolve()
    expect((await patient).message.search_response).toHaveLength(1)
    expect(registry.tokens).toHaveLength(1)
  })

  it('come from a function where one is given', async () => {
    const asked: boolean[] = []
    const credentials = ({ renew }: { renew: boolean }): string => {
      asked.push(renew)
      return renew ? 'second' : 'first'
    }
    const asking = await client([refusing(401, 'err.request.unauthorized'), finding([])], { credentials })
    await asking.search(ADA)
    expect(asked).toEqual([false, true])
    expect(registry.asked.map(({ headers }) => headers.authorization)).toEqual(['Bearer first', 'Bearer second'])
  })
})

it('a token of one refused request is not fetched again by another', async () => {
  const first = refusing(401, 'err.request.unauthorized')
  const asking = await client([first, first, finding([])], {}, issue)
  await Promise.all([asking.search(ADA), asking.search(ADA)])
  expect(registry.tokens).toHaveLength(2)
})
