/** The folder for temporary files of a test run, and the check that the run leaves no process and no file. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Makes the folder, and names it in TMPDIR, which every process of the run gets. When the run ends, what is left is ended
 * and removed, and the run has failed.
 * @param parent where it is made
 * @param patience milliseconds that processes have to end once the run is over: a worker and what it started see its end
 */
export function useRunFolder(parent: string, patience = 10_000): void {
  // Vitest may read its configuration again, and a test may start a run of its own.
  if (process.env[MARK] !== undefined) return
  const folder = mkdtempSync(join(parent, 'rollcall-run-'))
  // PostgreSQL, and tests of other users, run as somebody else.
  chmodSync(folder, 0o1777)
  process.env[MARK] = folder
  process.env.TMPDIR = folder
  // npm and the compiler of TypeScript would leave what Node compiled in that folder.
  process.env.NODE_DISABLE_COMPILE_CACHE = '1'
  process.once('exit', () => {
    const left = [...processesLeft(folder, patience), ...filesLeft(folder)]
    if (left.length === 0) return
    process.stderr.write(`The test run left behind:\n${left.map((line) => `  ${line}\n`).join('')}`)
    process.exitCode = 1
  })
}

const MARK = 'ROLLCALL_TEST_RUN'

/** Ends the processes that do not end by themselves. Returns their ids and commands. */
function processesLeft(folder: string, patience: number): readonly string[] {
  for (const end = Date.now() + patience; ; Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)) {
    const left = processesOf(folder)
    if (left.length > 0 && Date.now() < end) continue
    return left.map((pid) => {
      const line = `process ${pid}: ${read(pid, 'cmdline').replaceAll('\0', ' ')}`
      try {
        process.kill(pid, 'SIGKILL')
      } catch {
        // It has just ended.
      }
      return line
    })
  }
}

/** Those that name the folder in their environment or their command, or work in it; Linux shows them. */
function processesOf(folder: string): readonly number[] {
  const all = process.platform === 'linux' ? readdirSync('/proc').map(Number) : []
  return all.filter((pid) => {
    if (!(pid > 0) || pid === process.pid) return false
    return ['environ', 'cmdline', 'cwd'].some((name) => read(pid, name).includes(folder))
  })
}

function read(pid: number, name: string): string {
  try {
    const path = `/proc/${pid}/${name}`
    return name === 'cwd' ? readlinkSync(path) : readFileSync(path, 'utf8')
  } catch {
    // It has ended, or belongs to somebody else.
    return ''
  }
}

/** Removes them. Returns their names. */
function filesLeft(folder: string): readonly string[] {
  const names = readdirSync(folder)
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
  return names.map((name) => `file ${join(folder, name)}`)
}
