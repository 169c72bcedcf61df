/** Hands envelopes over to a command of the operator's, one after the other. */
import { spawn } from 'node:child_process'

/** The command did not take an envelope. */
export class NotTaken extends Error {
  override readonly name = 'NotTaken'
}

/**
 * @param command for the shell; it gets the envelope, opened, as one JSON text on its standard input
 * @param stdout where its own standard output goes: with --json ours is for machines
 * @returns hands one envelope over, when those before it have been: resolves when the command ended with exit code
 * 0, and rejects with NotTaken else
 */
export function handOver(command: string, stdout: 'inherit' | 'stderr'): (envelope: object) => Promise<void> {
  let last: Promise<unknown> = Promise.resolve()
  return (envelope) => {
    const mine = last.then(() => run(command, JSON.stringify(envelope), stdout))
    last = mine.catch(() => undefined)
    return mine
  }
}

function run(command: string, input: string, stdout: 'inherit' | 'stderr'): Promise<void> {
  return new Promise((resolve, reject) => {
    const output = stdout === 'stderr' ? 2 : stdout
    const child = spawn(command, { shell: true, stdio: ['pipe', output, 'inherit'] })
    // A command need not read what it is given.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(`${input}\n`)
    child.once('error', () => reject(new NotTaken('the command of --exec cannot be started')))
    child.once('close', (code, signal) => {
      if (code === 0) resolve()
      else reject(new NotTaken(`the command of --exec ended with ${code ?? signal}`))
    })
  })
}
