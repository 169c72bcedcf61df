/**
 * A child process that runs a program which prints a secret (secret-commands.ts). The child process reads the command from
 * standard input and writes the outcome to standard output, both as JSON.
 */
import { spawn } from 'node:child_process'
import { text } from 'node:stream/consumers'
import { hasErrorCode } from '@rollcall/database/embedded/files'
import { parseMasterKey } from '@rollcall/keys/master-key'

/** The program that the process runs. */
export interface SecretCommand {
  readonly program: string
  readonly args: readonly string[]
  /** The milliseconds that the program may run. */
  readonly longest: number
}

/** The output of the program without its last newline, or the reason why there is none. */
export type SecretCommandOutcome = { readonly printed: string } | { readonly problem: string }

/** The most bytes that the program may print. */
const MOST_PRINTED_BYTES = 4_096
/**
 * The program has ended, but a process that it started may keep its output open. When nothing was printed for these milliseconds,
 * and the output is a complete key, the output is taken as the result.
 */
const QUIET_OUTPUT_MS = 300

const { program, args, longest } = JSON.parse(await text(process.stdin)) as SecretCommand
// The program gets a process group of its own, so that its child processes can be ended too.
const secretProgram = spawn(program, args, { detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
const printedPieces: Buffer[] = []
const printedText = (): string =>
  Buffer.concat(printedPieces)
    .toString()
    .replace(/\r?\n$/, '')

let hasWrittenOutcome = false
function writeOutcomeAndExit(outcome: SecretCommandOutcome): void {
  if (hasWrittenOutcome) return
  hasWrittenOutcome = true
  process.stdout.write(JSON.stringify(outcome), () => process.exit())
}

function killProcessGroup(): void {
  try {
    if (secretProgram.pid !== undefined) process.kill(-secretProgram.pid, 'SIGKILL')
  } catch {
    // The process group has ended already.
  }
}

/**
 * True when the text is a whole key. A key has 64 hexadecimal digits, or 43 or 44 characters of base64. A text of hexadecimal
 * digits alone must have 64 of them: 43 could be base64, but could also be the beginning of a hexadecimal key.
 */
function isCompleteKey(secret: string): boolean {
  return parseMasterKey(secret) !== null && (secret.length === 64 || !/^[0-9a-f]+$/i.test(secret))
}

let hasProgramEnded = false
let quietTimer: NodeJS.Timeout | undefined
function finishWhenOutputIsQuiet(): void {
  clearTimeout(quietTimer)
  quietTimer = setTimeout(() => {
    if (isCompleteKey(printedText())) writeOutcomeAndExit({ printed: printedText() })
  }, QUIET_OUTPUT_MS)
}

secretProgram.stdout.on('data', (piece: Buffer) => {
  printedPieces.push(piece)
  if (Buffer.concat(printedPieces).length > MOST_PRINTED_BYTES) {
    killProcessGroup()
    writeOutcomeAndExit({ problem: `the program printed more than ${MOST_PRINTED_BYTES} bytes` })
  } else if (hasProgramEnded) finishWhenOutputIsQuiet()
})
secretProgram.once('error', (error) => {
  const reason = hasErrorCode(error, 'ENOENT') ? 'there is no such program' : null
  writeOutcomeAndExit({ problem: reason ?? `the program cannot be run (${'code' in error ? error.code : error.name})` })
})
secretProgram.once('exit', (code, signal) => {
  hasProgramEnded = true
  if (code === 0) finishWhenOutputIsQuiet()
  else writeOutcomeAndExit({ problem: `the program ended with ${code === null ? signal : `status ${code}`}` })
})
secretProgram.once('close', () => writeOutcomeAndExit({ printed: printedText() }))
setTimeout(() => {
  killProcessGroup()
  writeOutcomeAndExit({ problem: `the program took longer than ${longest / 1_000} seconds` })
}, longest)
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => {
    killProcessGroup()
    process.exit(1)
  })
}
