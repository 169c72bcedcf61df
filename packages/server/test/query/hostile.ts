/**
 * Asks hostile queries: each must be refused by its item, and no value may be in an answer or in the log.
 * `bench/hostile.ts` measures how long it takes.
 */
import { afterAll, beforeAll, expect } from 'vitest'
import { postSearch, type TestParticipant, type TestServer, testServer } from '../server.ts'

/** A word that tests put into values, never into names: it must not come back anywhere. */
export const SECRET = 'zqxjkv'

export const INVALID = 'rjct.search_criteria.invalid'
/** Where an expression, a graphql text and the first element of a list stand. */
export const EXPRESSION = 'search_criteria.query.value.expression.query'
export const GRAPHQL = 'search_criteria.query.value.expression'
export const ELEMENT = 'search_criteria.query[0]'

export const typed = (type: string, expression: unknown) => ({ type: `ns:org:QueryType:${type}`, value: { expression } })
export const inExpression = (query: unknown) => ({ query_type: 'expression', query: typed('expression', { query }) })
export const inList = (...query: unknown[]) => ({ query_type: 'predicate', query })
export const inGraphql = (text: unknown) => ({ query_type: 'graphql', query: typed('graphql', text) })
export const compared = (attribute_name: unknown, operator: unknown, attribute_value: unknown) => ({
  expression1: { attribute_name, operator, attribute_value },
})
/** A query that is answered. */
export const ANYBODY = { UIN: { $exists: true } }

export const escaped = (text: string): string => text.replace(/[$.[\]]/g, '\\$&')

export interface Target {
  server(): TestServer
  peer(): TestParticipant
  /** Sends a search of one item, and returns the item of the answer, which must not have `SECRET`. */
  // biome-ignore lint/suspicious/noExplicitAny: the shapes of answers are what the tests are about
  ask(criteria: object, namespace?: string): Promise<any>
  /** Expects that an item is rejected. @param message begins with the member, and goes on with the rule */
  expectRefused(criteria: object, message: string | RegExp, code?: string, namespace?: string): Promise<void>
}

/** Starts a server for the tests of one file; after them it must still answer, and must have logged no error. */
export function hostileTarget(): Target {
  let server: TestServer
  let peer: TestParticipant
  beforeAll(async () => {
    server = await testServer({ limits: { body_depth: 512, participant_rate: 100_000 } })
    peer = await server.participant('spmis.demo')
    const identifier = [{ identifier_type: 'UIN', identifier_value: '1' }]
    await server.registry('civil', [{ '@type': 'Person', identifier, sex: 'female' }])
    await server.registry('social')
  })
  afterAll(async () => {
    const item = await target.ask(inExpression(ANYBODY))
    const logged = server.logged()
    await server.close()
    expect(item).toMatchObject({ status: 'succ', pagination: { total_count: 1 } })
    expect(logged).not.toMatch(/"level":(50|60|"error"|"fatal")/)
    expect(logged.toLowerCase()).not.toContain(SECRET)
  })

  const target: Target = {
    server: () => server,
    peer: () => peer,
    async ask(criteria, namespace = 'civil') {
      const answer = await postSearch(server, peer, [{ search_criteria: criteria }], namespace)
      expect(answer.status).toBe(200)
      expect(JSON.stringify(answer.body).toLowerCase()).not.toContain(SECRET)
      return answer.body.message.search_response[0]
    },
    async expectRefused(criteria, message, code = INVALID, namespace = 'civil') {
      const item = await target.ask(criteria, namespace)
      expect(item).toEqual({
        reference_id: 'r-0',
        timestamp: expect.any(String),
        status: 'rjct',
        status_reason_code: code,
        status_reason_message: typeof message === 'string' ? message : expect.stringMatching(message),
      })
      expect(item.status_reason_message.length).toBeLessThanOrEqual(999)
    },
  }
  return target
}
