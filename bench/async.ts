/**
 * How fast requests are accepted and answered by a callback: one look-up and one callback each, unsigned and signed,
 * beside a floor, `floors/async.ts`, that does the least. Both run at the same time in processes of their own and are
 * loaded in turns. Every request that is accepted must be answered exactly once. docs/benchmarks.md says more.
 *
 *     npm run bench -- async --data /var/tmp/rollcall-bench
 */
import { countRecords } from '@rollcall/records/records/record-counts'
import { compareVariants, type Side, type Variant } from './async/compare.ts'
import { makeFloorDatabase } from './async/floor-database.ts'
import { startReceiver } from './async/receiver.ts'
import { senderTo, within } from './async/send.ts'
import { registerCalled, searchAddress, startRollcall } from './async/setting.ts'
import { checkSameBytes, SIGNATURE_VARIABLE, signatureOf } from './search/answers.ts'
import { ASKER_SENDER } from './search/question.ts'
import { filledRegistry, shuffledIdentifiers } from './search/registry.ts'
import { endless, JSON_BODY } from './search/setting.ts'
import { envelopeSigner, registerAskerKey } from './search/signing.ts'
import { withBenchDatabase } from './shared/bench-database.ts'
import { readOptions } from './shared/options.ts'
import type { Row } from './shared/results.ts'

/** The least share of the floor's rate that ours must reach. */
const BAR = 0.6

/** Seconds for the first answer. */
const PATIENCE = 20

const NUMBERS = {
  records: [100_000, 50],
  rounds: [6, 1],
  requests: [2_000, 4],
  idle: [40, 1],
  connections: [32, 2],
  /** Rounds that are not counted. */
  'warm-up': [1, 0],
} as const

/** Measures, prints and writes `async.json`. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan, place } = readOptions(args, NUMBERS)
  const { records } = plan
  const receiver = await startReceiver()
  try {
    return await withBenchDatabase(place, async (database) => {
      const { db, owner, start } = database
      const registry = await filledRegistry(db, records)
      const identifiers = endless(await shuffledIdentifiers(db, registry))
      // The database of an earlier bench may hold more records than this one asks for.
      const held = await countRecords(db, registry)
      await makeFloorDatabase(db, owner, held[registry.kind.record_types[0].name] ?? records)
      const rollcall = await startRollcall(database)
      const asker = await registerCalled(db, rollcall, receiver, ASKER_SENDER)
      await registerAskerKey(db)
      const ours = { process: rollcall, url: searchAddress(rollcall), headers: asker.headers }

      const [sample] = asker.questions(identifiers, 1)
      if (sample === undefined) throw new Error('there is no question')
      const answerOf = async ({ url, headers }: Side): Promise<string> => {
        const sender = senderTo(url, { headers: await headers(), connections: 1, receiver })
        const answered = sender.send(sample).then((sent) => sent.answered)
        const { body } = await within(PATIENCE, receiver, answered)
        await sender.close()
        return body
      }
      const answer = await answerOf(ours)
      const process = await start('floors/async', { [SIGNATURE_VARIABLE]: signatureOf(answer) })
      const floorAt = (path: string): Side => ({ process, url: `${process.url}/${path}`, headers: async () => JSON_BODY })
      const signed = await envelopeSigner()
      const floors = { unsigned: floorAt('search'), signed: floorAt('signed-search') }
      for (const floor of Object.values(floors)) checkSameBytes(answer, await answerOf(floor))

      const unsignedQuestions = async (count: number) => asker.questions(identifiers, count)
      const variants: Variant[] = [
        { name: 'unsigned', ours, floor: floors.unsigned, questions: unsignedQuestions },
        {
          name: 'signed',
          ours,
          floor: floors.signed,
          questions: (count) =>
            Promise.all(
              asker.questions(identifiers, count).map(async (question) => ({ ...question, body: await signed(question.body) })),
            ),
        },
      ]
      return await compareVariants(variants, BAR, { db, receiver }, plan)
    })
  } finally {
    await receiver.close()
  }
}
