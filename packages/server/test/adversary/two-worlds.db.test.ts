/** Answers to two databases that differ only in what a participant may not see are equal, whatever is asked. */
import fc from 'fast-check'
import { afterAll, expect, test } from 'vitest'
import { grant } from '../../../participants/test/grants.ts'
import { postSearch } from '../server.ts'
import { noteStatements } from '../statements.ts'
import { answersOf, anyQuestions, anyWorld, become, documentsOf, twoWorlds } from '../two-worlds.ts'

const [everything, visible] = await twoWorlds()
// The counting of requests happens now and then, whatever is asked.
const noted = noteStatements(/quota_bucket|grant_use/)
afterAll(() => noted.stop())

test('the answers are equal', { timeout: 600_000 }, async () => {
  let told = 0
  let different = 0
  await fc.assert(
    fc.asyncProperty(anyWorld, anyQuestions, async (world, questions) => {
      await become(everything, world)
      await become(visible, world)
      const answers = await answersOf(visible, questions)
      expect(await answersOf(everything, questions)).toEqual(answers)
      different += JSON.stringify(documentsOf(world, true)) === JSON.stringify(documentsOf(world, false)) ? 0 : 1
      told += JSON.stringify(answers).split('"succ"').length
    }),
    { numRuns: 40, endOnFailure: true },
  )
  // The worlds differed, and were asked about.
  expect(different).toBeGreaterThan(20)
  expect(told).toBeGreaterThan(200)
})

/** Statements that a search makes, by their texts, however long they take. */
async function statementsOf(search: object, namespace = 'civil'): Promise<readonly string[]> {
  const { server, peer } = everything
  server.clock.pass(1_000)
  // Fills short-lived caches, so that they do not depend on the questions.
  await postSearch(server, peer, [{ search_criteria: byUin('U-0') }], namespace)
  const { statements } = await noted.during(() => postSearch(server, peer, [{ search_criteria: search }], namespace))
  return statements
}

const byUin = (value: string) => ({ query_type: 'idtype-value', query: { type: 'UIN', value } })
const expression = (query: object) => ({ query_type: 'expression', query })

test('a hidden person causes the statements of an unknown one, and what is refused those of what does not exist', async () => {
  const { server, peer } = everything
  const [world] = fc.sample(anyWorld, 1)
  if (world === undefined) throw new Error('no world')
  const people = world.people.map((one, at) => ({ ...one, isProtected: at === 0, birth_date: '1990-05-05' }))
  await become(everything, { ...world, people, terms: {} })
  await grant(server.database, peer.sender_id, 'civil', {
    query_forms: 'all',
    ask: ['surname'],
    see: ['identifier'],
    rows: { Person: { surname: { $ne: 'Nobody' } } },
  })
  const unknown = await statementsOf(byUin('U-9999'))
  expect(unknown).toEqual(expect.arrayContaining([expect.stringMatching(/with hit as/), expect.stringMatching(/account_entry/)]))
  expect(await statementsOf(byUin('U-1000'))).toEqual(unknown)
  expect(await statementsOf(expression({ surname: { $eq: 'Xyz' } }))).toEqual(
    await statementsOf(expression({ surname: { $eq: people[0]?.surname ?? '' } })),
  )
  const absent = await statementsOf(expression({ shoe_size: { $eq: '42' } }))
  expect(await statementsOf(expression({ location: { $eq: 'Lagos' } }))).toEqual(absent)
})
