/** Runs a program that prints a master key, such as the tool of a vault or key management service. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { SecretCommand, SecretCommandOutcome } from './secret-command-process.ts'

const COMMAND_PROCESS_FILE = fileURLToPath(new URL('./secret-command-process.ts', import.meta.url))

/**
 * Runs a program, without a shell, and returns its output without the last newline. Its error output is shown to the operator. At
 * the time limit its process group is killed. If the program ends but has started a process that keeps its output open, we do not
 * wait for that process: the key is returned once it is complete and nothing more is printed for a moment.
 * @param variable the variable that names the program
 * @param text its path and arguments with spaces between them, or a JSON array of both
 * @param environment environment of the program
 * @param longest time limit in milliseconds
 * @throws Error that names the variable; never what the program printed
 */
export function runSecretCommand(variable: string, text: string, environment: NodeJS.ProcessEnv, longest = 10_000): string {
  const [program, ...args] = readCommandWords(variable, text)
  const order: SecretCommand = { program, args, longest }
  const { stdout } = spawnSync(process.execPath, [COMMAND_PROCESS_FILE], {
    encoding: 'utf8',
    env: environment,
    input: JSON.stringify(order),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const outcome = parseJsonOrNull(stdout) as SecretCommandOutcome | null
  if (outcome === null) throw new Error(`${variable}: the program cannot be run`)
  if ('problem' in outcome) throw new Error(`${variable}: ${outcome.problem}`)
  if (outcome.printed === '') throw new Error(`${variable}: the program printed nothing`)
  return outcome.printed
}

function readCommandWords(variable: string, text: string): [string, ...string[]] {
  const words = text.trim().startsWith('[') ? parseJsonOrNull(text) : text.trim().split(/\s+/)
  if (Array.isArray(words) && words.every((word) => typeof word === 'string')) {
    const [program = '', ...args] = words
    if (program !== '') return [program, ...args]
  }
  throw new Error(`${variable}: must be a program with its arguments, or a JSON array of texts`)
}

function parseJsonOrNull(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
