/** Results as JSON, with what is needed to compare them later: when, which commit, which machine. */
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { availableParallelism, cpus, totalmem } from 'node:os'

const RESULTS = new URL('../results/', import.meta.url)

/** Writes `bench/results/<bench>.json`. */
export async function writeResult(bench: string, result: object): Promise<void> {
  const document = { bench, at: new Date().toISOString(), commit: commit(), machine: machine(), ...result }
  await mkdir(RESULTS, { recursive: true })
  await writeFile(new URL(`${bench}.json`, RESULTS), `${JSON.stringify(document, null, 2)}\n`)
}

function machine() {
  return {
    cores: availableParallelism(),
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    memory_gb: Math.round(totalmem() / 2 ** 30),
    platform: `${process.platform} ${process.arch}`,
    node: process.version,
  }
}

/** The commit that is checked out, with `+` when files differ from it; null outside a clone. */
function commit(): string | null {
  try {
    const hash = git('rev-parse', '--short', 'HEAD')
    const changed = git('status', '--porcelain', '--untracked-files=no')
    return changed === '' ? hash : `${hash}+`
  } catch {
    return null
  }
}

function git(...args: readonly string[]): string {
  const stdio = ['ignore', 'pipe', 'ignore'] as const
  return execFileSync('git', args, { cwd: import.meta.dirname, encoding: 'utf8', stdio: [...stdio] }).trim()
}
