/** Secrets that a program prints: a vault, a key management service, the tool of a hardware module. */
import { spawnSync } from 'node:child_process'
import { hasCode } from '../embedded/files.ts'

/** Bytes that it may print. */
const MOST = 4_096

/**
 * What the program prints, without the end of its last line. There is no shell. Its standard error is ours, so that the
 * operator reads its complaints.
 * @param variable names the program: its path and arguments with spaces between them, or a JSON array of both
 * @param environment of the program
 * @param longest milliseconds that it may take
 * @throws Error that names the variable; never what the program printed
 */
export function secretOfCommand(
  variable: string,
  text: string,
  environment: NodeJS.ProcessEnv,
  longest = 10_000,
): string {
  const [program, ...args] = wordsOf(variable, text)
  const { status, signal, stdout, error } = spawnSync(program, args, {
    encoding: 'utf8',
    env: environment,
    killSignal: 'SIGKILL',
    maxBuffer: MOST,
    shell: false,
    stdio: ['ignore', 'pipe', 'inherit'],
    timeout: longest,
  })
  if (error !== undefined) throw new Error(`${variable}: ${reasonOf(error, longest)}`)
  if (status !== 0) {
    throw new Error(`${variable}: the program ended with ${status === null ? signal : `status ${status}`}`)
  }
  const secret = stdout.replace(/\r?\n$/, '')
  if (secret === '') throw new Error(`${variable}: the program printed nothing`)
  return secret
}

function wordsOf(variable: string, text: string): [string, ...string[]] {
  const words = text.trim().startsWith('[') ? parsed(text) : text.trim().split(/\s+/)
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) {
    const [program = '', ...args] = words
    if (program !== '') return [program, ...args]
  }
  throw new Error(`${variable}: must be a program with its arguments, or a JSON array of texts`)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

function reasonOf(error: Error, longest: number): string {
  if (hasCode(error, 'ENOENT')) return 'there is no such program'
  if (hasCode(error, 'ETIMEDOUT')) return `the program took longer than ${longest / 1_000} seconds`
  if (hasCode(error, 'ENOBUFS')) return `the program printed more than ${MOST} bytes`
  return `the program cannot be run (${'code' in error ? String(error.code) : error.name})`
}
