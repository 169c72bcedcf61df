/** A Debian that runs in a folder: its own systemd, its own network without a way out, as systemd-nspawn starts it. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Machine {
  /** Runs a line of the shell as root to its end, and gives what it printed. @throws Error it failed */
  run(line: string, input?: string): string
  /** Runs a line that may fail. Returns what it printed on both outputs, and its exit code. */
  try(line: string, input?: string): { readonly code: number | null; readonly said: string }
  stop(): Promise<void>
}

const ENTER = ['--mount', '--uts', '--ipc', '--net', '--pid', '--root', '--wd']
const ENV = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', HOME: '/root' }

/** @throws Error it does not start here */
export async function startMachine(folder: string): Promise<Machine> {
  const words = ['--quiet', '--boot', '--private-network', '--register=no', '--keep-unit', '--console=pipe']
  const nspawn = spawn('systemd-nspawn', [...words, '--directory', folder], { stdio: ['ignore', 'ignore', 'pipe'] })
  let said = ''
  nspawn.stderr.on('data', (chunk) => {
    said += chunk
  })
  const attempt = (line: string, input = '') => {
    const leader = childOf(nspawn)
    const entered = ['--target', leader, ...ENTER, 'sh', '-euc', line]
    return spawnSync('nsenter', entered, { input, encoding: 'utf8', env: ENV, maxBuffer: 2 ** 28 })
  }
  const stop = async (): Promise<void> => {
    const ended = new Promise((resolve) => nspawn.once('exit', resolve))
    if (nspawn.exitCode !== null) return
    // SIGTERM makes nspawn ask the systemd inside to power off.
    nspawn.kill('SIGTERM')
    await Promise.race([ended, sleep(30_000, undefined, { ref: false })])
    nspawn.kill('SIGKILL')
  }
  for (let tries = 0; ; tries += 1) {
    if (nspawn.exitCode !== null || tries > 600) {
      await stop()
      throw new Error(`systemd-nspawn does not start a machine here: ${said.trim()}`)
    }
    // A part that a folder lacks, such as a console, makes it degraded.
    if (/^(?:running|degraded)/.test(attempt('systemctl is-system-running || true').stdout ?? '')) break
    await sleep(200)
  }
  return {
    run(line, input) {
      const { status, stdout, stderr } = attempt(line, input)
      if (status !== 0) throw new Error(`${line}\nended with ${status}:\n${stdout}${stderr}`)
      return stdout
    },
    try(line, input) {
      const { status, stdout, stderr } = attempt(line, input)
      return { code: status, said: `${stdout}${stderr}` }
    },
    stop,
  }
}

/** The first process of the machine. */
function childOf({ pid }: ChildProcess): string {
  const [child = ''] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ')
  return child === '' ? '0' : child
}
