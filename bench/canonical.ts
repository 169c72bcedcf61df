/**
 * How long canonical JSON of a page of 1 MB takes beside JSON.stringify of the same value, which sorts nothing, checks
 * nothing and is written in C++. Beside both, the page as it is answered: its records are stored as canonical JSON
 * already and only embedded.
 *
 *     npm run bench -- canonical
 */
import { parseArgs } from 'node:util'
import { CanonicalText, canonicalJson } from '@rollcall/protocol'
import { generate } from '@rollcall/synthetic'
import { KIND, RECORD_TYPE, REFERENCE_ID, REG_TYPE, TRANSACTION_ID } from './search/question.ts'
import { wholeNumber } from './shared/options.ts'
import { writeResult } from './shared/results.ts'
import { median, percentile, rounded } from './shared/statistics.ts'

const BYTES = 1_000_000
const WARM_UP_ROUNDS = 50

/** Measures, prints and writes `bench/results/canonical.json`; there is no bar. */
export async function run(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { rounds: { type: 'string', default: '500' } } })
  const rounds = wholeNumber('rounds', values.rounds)
  const records = recordsOfAPage()
  const value = page(records)
  const answered = page(records.map((record) => new CanonicalText(canonicalJson(record))))
  const text = canonicalJson(value)
  if (canonicalJson(answered) !== text || canonicalJson(JSON.parse(text)) !== text) {
    throw new Error('one page has two canonical spellings')
  }
  const write = {
    stringify: () => JSON.stringify(value),
    canonical: () => canonicalJson(value),
    answered: () => canonicalJson(answered),
  }
  const names = Object.keys(write) as (keyof typeof write)[]
  const times = { stringify: [] as number[], canonical: [] as number[], answered: [] as number[] }
  for (let round = 0; round < WARM_UP_ROUNDS + rounds; round += 1) {
    for (const name of names) {
      const start = performance.now()
      const written = Buffer.byteLength(write[name]())
      const time = performance.now() - start
      if (written !== Buffer.byteLength(text)) throw new Error('a page is shorter than it should be')
      if (round >= WARM_UP_ROUNDS) times[name].push(time)
    }
  }
  const told = Object.fromEntries(names.map((name) => [name, summary(times[name])]))
  const ratios = {
    ratio: rounded(median(times.canonical) / median(times.stringify), 2),
    ratio_answered: rounded(median(times.answered) / median(times.stringify), 2),
  }
  const bytes = Buffer.byteLength(text)
  console.log(`a page of ${records.length} records, ${(bytes / 1e6).toFixed(2)} MB; medians of ${rounds} rounds`)
  for (const name of names) console.log(`${name.padEnd(10)}${told[name]?.median_ms} ms (p99 ${told[name]?.p99_ms} ms)`)
  console.log(
    `canonical takes ${ratios.ratio} times as long as stringify, the page as answered ${ratios.ratio_answered}`,
  )
  await writeResult('canonical', { rounds, records: records.length, bytes, ...ratios, ...told })
  return true
}

/** As many synthetic records as make up 1 MB. */
function recordsOfAPage(): object[] {
  const records: object[] = []
  let bytes = 0
  for (const record of generate(KIND, { count: 10_000, seed: 1 })) {
    if (bytes >= BYTES) break
    records.push(record)
    bytes += Buffer.byteLength(JSON.stringify(record)) + 1
  }
  return records
}

/** The message of an answer, with its members in the order in which the specification lists them. */
function page(reg_records: readonly object[]): object {
  const timestamp = '2026-02-03T09:15:00.000Z'
  return {
    transaction_id: TRANSACTION_ID,
    correlation_id: 'e3b0c442-98fc-4c14-9afb-f4c8996fb924',
    search_response: [
      {
        reference_id: REFERENCE_ID,
        timestamp,
        status: 'succ',
        data: { version: '1.0.0', reg_type: REG_TYPE, reg_record_type: RECORD_TYPE.emitted, reg_records },
        pagination: { page_size: reg_records.length, page_number: 1, total_count: reg_records.length },
        locale: 'eng',
      },
    ],
  }
}

const summary = (times: readonly number[]) => ({
  median_ms: rounded(median(times), 3),
  p99_ms: rounded(percentile(times, 0.99), 3),
})

if (import.meta.main) process.exitCode = (await run(process.argv.slice(2))) ? 0 : 1
