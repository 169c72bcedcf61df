/**
 * How long canonical JSON of a page of 1 MB takes beside JSON.stringify of the same value, which sorts nothing, checks
 * nothing and is written in C++. Beside both, the page as it is answered: its records are stored as canonical JSON
 * already and only embedded.
 *
 *     npm run bench -- canonical
 */
import { CanonicalText, canonicalJson } from '@rollcall/protocol'
import { generate } from '@rollcall/synthetic'
import { KIND, RECORD_TYPE, REFERENCE_ID, REG_TYPE, TRANSACTION_ID } from './search/question.ts'
import { readOptions } from './shared/options.ts'
import { type Row, writeResult } from './shared/results.ts'
import { median, percentile, rounded } from './shared/statistics.ts'

const NUMBERS = { rounds: [500, 1], 'warm-up': [50, 0], bytes: [1_000_000, 10_000] } as const

/** Measures, prints and writes `canonical.json`; there is no bar. */
export async function run(args: readonly string[]): Promise<readonly Row[]> {
  const { plan } = readOptions(args, NUMBERS)
  const { rounds } = plan
  const records = recordsOfAPage(plan.bytes)
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
  for (let round = 0; round < plan['warm-up'] + rounds; round += 1) {
    for (const name of names) {
      const start = performance.now()
      const written = Buffer.byteLength(write[name]())
      const time = performance.now() - start
      if (written !== Buffer.byteLength(text)) throw new Error('a page is shorter than it should be')
      if (round >= plan['warm-up']) times[name].push(time)
    }
  }
  const told = Object.fromEntries(names.map((name) => [name, summary(times[name])]))
  const ratios = {
    ratio: rounded(median(times.canonical) / median(times.stringify), 2),
    ratio_answered: rounded(median(times.answered) / median(times.stringify), 2),
  }
  const bytes = Buffer.byteLength(text)
  await writeResult('canonical', { rounds, records: records.length, bytes, ...ratios, ...told })
  const row = (name: 'canonical' | 'answered', figure: number): Row => {
    const time = (name: keyof typeof write) => `${told[name]?.median_ms} ms (p99 ${told[name]?.p99_ms} ms)`
    const what = `canonical JSON${name === 'answered' ? ', as answered' : ''}, ${(bytes / 1e6).toFixed(2)} MB`
    return { what, ours: time(name), floor: time('stringify'), figure: `${figure} times`, wanted: '', passed: true }
  }
  return [row('canonical', ratios.ratio), row('answered', ratios.ratio_answered)]
}

/** Makes as many synthetic records as fit into `most` bytes. */
function recordsOfAPage(most: number): object[] {
  const records: object[] = []
  let bytes = 0
  for (const record of generate(KIND, { count: 10_000, seed: 1 })) {
    if (bytes >= most) break
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
