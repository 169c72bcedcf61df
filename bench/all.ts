/** All benchmarks, one after the other, each in a process of its own, and the table of docs/benchmarks.md. */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { BENCHMARKS } from './benchmarks.ts'
import { type Row, resultsFolder, tableOf } from './shared/results.ts'

const RUN = fileURLToPath(new URL('run.ts', import.meta.url))

/**
 * Prints the table, and writes it into `all.md` after each bench.
 * @param args options that each bench takes, such as `--data`
 * @returns false when a bar is missed
 */
export async function all(args: readonly string[]): Promise<boolean> {
  const rows: Row[] = []
  await mkdir(resultsFolder(), { recursive: true })
  for (const [name, { again = [] }] of Object.entries(BENCHMARKS)) {
    for (const more of [[], ...again]) {
      rows.push(...(await rowsOf([name, ...more, ...args])))
      await writeFile(join(resultsFolder(), 'all.md'), tableOf(rows))
    }
  }
  console.log(tableOf(rows))
  return rows.every(({ passed }) => passed)
}

/** Runs a bench, and returns its rows; a bench that fails has a row too. */
async function rowsOf(args: readonly string[]): Promise<readonly Row[]> {
  console.log(`\n${args.join(' ')}`)
  const [name = ''] = args
  let rows: readonly Row[] = [{ what: name, ours: '', floor: '', figure: 'failed', wanted: 'to run', passed: false }]
  const child = fork(RUN, args)
  child.once('message', (found) => {
    rows = found as readonly Row[]
  })
  await once(child, 'exit')
  return rows
}
