/**
 * Runs one benchmark, or all of them one after the other.
 *
 *     npm run bench -- search
 *     npm run bench -- all --data /var/tmp/rollcall-bench
 */
import { all } from './all.ts'
import { BENCHMARKS } from './benchmarks.ts'
import { tellRows } from './shared/results.ts'

const [name = '', ...args] = process.argv.slice(2)
const benchmark = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined
if (name === 'all') {
  process.exitCode = (await all(args)) ? 0 : 1
} else if (benchmark !== undefined) {
  const rows = await (await benchmark.load()).run(args)
  tellRows(rows)
  process.send?.(rows)
  process.exitCode = rows.every(({ passed }) => passed) ? 0 : 1
} else {
  console.error('usage: npm run bench -- <benchmark> [options]\n')
  console.error(`  ${'all'.padEnd(18)}each of them in turn, and one table of what they found`)
  for (const [known, { measures }] of Object.entries(BENCHMARKS)) console.error(`  ${known.padEnd(18)}${measures}`)
  process.exitCode = 2
}
