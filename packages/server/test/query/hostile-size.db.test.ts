/** Queries that are too large or too deep: refused before they cost anything. */
import { describe, expect, it } from 'vitest'
import { bearer, post, postSearch } from '../server.ts'
import { ANYBODY, compared, ELEMENT, EXPRESSION, hostileTarget, inExpression, inList, SECRET } from './hostile.ts'

const target = hostileTarget()

const deep = (levels: number, innermost: object): object => {
  let query = innermost
  for (let level = 0; level < levels; level++) query = { $and: [query] }
  return query
}

describe('size', () => {
  const name = 'surname'
  it.each<[name: string, criteria: () => object, message: string | RegExp]>([
    [
      '100,000 values in $in',
      () => inExpression({ surname: { $in: Array.from({ length: 100_000 }, (_, at) => `${SECRET}${at}`) } }),
      `${EXPRESSION}.surname.$in: a query must have at most 1000 values in its lists`,
    ],
    [
      'two lists of 600',
      () => inExpression({ $or: [1, 2].map(() => ({ surname: { $in: Array.from({ length: 600 }, (_, at) => `a${at}`) } })) }),
      /\.\$or\[1\]\.surname\.\$in: a query must have at most 1000 values in its lists$/,
    ],
    [
      '100,000 values in a list element',
      () =>
        inList(
          compared(
            'surname',
            'in',
            Array.from({ length: 100_000 }, (_, at) => `${SECRET}${at}`),
          ),
        ),
      `${ELEMENT}.expression1.attribute_value: a query must have at most 1000 values in its lists`,
    ],
    ['400 levels of $and', () => inExpression(deep(200, ANYBODY)), /: must not be nested deeper than 20 levels$/],
    [
      '150 levels of objects',
      () => {
        let query: object = { surname: 'x' }
        for (let level = 0; level < 150; level++) query = { name: query }
        return inExpression(query)
      },
      /: must not be nested deeper than 20 levels$/,
    ],
    [
      '10,000 conditions',
      () => inExpression({ $or: Array.from({ length: 10_000 }, () => ({ surname: SECRET })) }),
      /: a query must have at most 200 conditions$/,
    ],
    [
      '10,000 elements',
      () => inList(...Array.from({ length: 10_000 }, () => compared(name, 'eq', SECRET))),
      'search_criteria.query: a query must have at most 200 conditions',
    ],
    [
      '1,000 members, as many as one object may have',
      () => inExpression(Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`surname${at}`, SECRET]))),
      /: a query must have at most 200 conditions$/,
    ],
    [
      'a megabyte of text',
      () => inExpression({ surname: SECRET.repeat(170_000) }),
      `${EXPRESSION}.surname: must be text of 1 to 512 characters`,
    ],
    [
      'a name of a megabyte',
      () => inExpression({ ['surname'.repeat(150_000)]: 'x' }),
      /^search_criteria\.query\.value\.expression\.query\["(?:surname){9}s"\]: is no attribute that this participant may ask about; those of Person are /,
    ],
    [
      'a dotted path of a megabyte',
      () => inExpression({ ['name.'.repeat(200_000)]: 'x' }),
      /^search_criteria\.query\.value\.expression\.query\["(?:name\.){12}name"\]: is no attribute that this participant may ask about; those of Person are /,
    ],
  ])('%s', async (_name, criteria, message) => target.expectRefused(criteria(), message))

  it('depth 1,000 is refused with the whole message', async () => {
    const answer = await postSearch(target.server(), target.peer(), [{ search_criteria: inExpression(deep(500, ANYBODY)) }])
    expect(answer.status).toBe(400)
    expect(answer.body.message.error).toMatchObject({
      code: 'err.request.bad',
      message: expect.stringMatching(/\.\.\.: nested deeper than 512 levels$/),
    })
  })

  it('a number beyond every double is refused with the whole message', async () => {
    const search_criteria = inExpression({ age: { $lt: 'NUMBER' } })
    const item = { reference_id: 'r', timestamp: new Date().toISOString(), search_criteria }
    const header = {
      version: '1.0.0',
      message_id: 'm-1e400',
      message_ts: item.timestamp,
      action: 'search',
      sender_id: target.peer().sender_id,
      total_count: 1,
    }
    const text = JSON.stringify({ header, message: { transaction_id: 't', search_request: [item] } })
    const url = `${target.server().url}/civil/v1.0.0/registry/sync/search`
    const answer = await post(url, text.replace('"NUMBER"', '1e400'), bearer(target.peer()))
    expect(answer.status).toBe(400)
    expect(answer.body.message.error).toMatchObject({
      code: 'err.request.bad',
      message: expect.stringMatching(/\.\$lt: the number cannot be kept as it is written; write it as a string$/),
    })
  })
})
