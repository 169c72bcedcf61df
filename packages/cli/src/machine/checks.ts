/** Checks the machine, runs a program and waits for a node, for `rollcall setup` and `upgrade`. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { request as askHttp } from 'node:http'
import { request as askHttps } from 'node:https'
import { setTimeout as sleep } from 'node:timers/promises'
import { rootCertificates } from 'node:tls'
import { CommandError } from '../failure.ts'
import { findFileText } from './facts.ts'
import { CODE_FOLDER, ROLLCALL_COMMAND_PATH } from './places.ts'

/** Checks the machine. @throws CommandError the Debian package is not installed, or the user is not root */
export function checkPackageAndRootUser(): void {
  if (!existsSync(ROLLCALL_COMMAND_PATH) || !existsSync(`${CODE_FOLDER}/current`)) {
    throw new CommandError('this command belongs to the Debian package of Rollcall, which is not installed on this machine')
  }
  if (process.getuid?.() !== 0) throw new CommandError('this command changes the machine: run it as root, with sudo')
}

/** Runs a program and returns its output, then its error output, also after a failure; or why it cannot be started. */
export const runForOutput = (...words: readonly string[]): string => {
  const [program = '', ...others] = words
  const run = spawnSync(program, others, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
  return run.error === undefined ? `${run.stdout}${run.stderr}` : `${program} cannot be started: ${run.error.message}\n`
}

interface ReadyWaitOptions {
  /** The systemd unit of the node. Its log says why the node does not answer. */
  readonly unit: string
  readonly authority_file?: string
  /** The most requests (default: 240, about two minutes: a busy machine starts a node slowly). */
  readonly tries?: number
}

/**
 * Requests `url` until it answers HTTP 200, with pauses of half a second.
 * @throws CommandError it does not after `tries` requests
 */
export async function waitUntilReady(url: string, { unit, authority_file = '', tries = 240 }: ReadyWaitOptions): Promise<void> {
  const own = authority_file === '' ? null : findFileText(authority_file)
  const ca = [...rootCertificates, findFileText('/etc/ssl/certs/ca-certificates.crt') ?? '', own ?? ''].filter(
    (pem) => pem !== '',
  )
  let said = ''
  for (let asked = 0; asked < tries; asked += 1) {
    if (asked > 0) await sleep(500)
    said = await askHttpStatusOrError(url, ca)
    if (said === '200') return
  }
  throw new CommandError(`${url} does not give the expected answer: ${said}; journalctl --unit ${unit} says what the node does`)
}

/** Requests an address, and returns the HTTP status or the error as text. */
const askHttpStatusOrError = (url: string, ca: readonly string[]): Promise<string> =>
  new Promise((resolve) => {
    const options = { timeout: 5_000, agent: false }
    const asked = url.startsWith('https:') ? askHttps(url, { ...options, ca: [...ca] }) : askHttp(url, options)
    asked.on('response', (answer) => {
      answer.resume()
      resolve(String(answer.statusCode))
    })
    asked.on('timeout', () => asked.destroy(new Error('no answer within 5 seconds')))
    asked.on('error', ({ message }) => resolve(message))
    asked.end()
  })
