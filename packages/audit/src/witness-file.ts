/**
 * A file as witness: checkpoints are appended as lines and synced. The best place is a disk that administrators of the
 * database cannot write to.
 */
import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { Socket } from 'node:net'
import type { Readable, Writable } from 'node:stream'
import type { WitnessTarget } from './witness-target.ts'

/**
 * The program of a child process that writes the file. In our own process, a file system that hangs would block a thread and keep
 * the process from ending. The program opens the file for each block of lines, so it does not write on in a rotated file. It
 * writes a block in one call, so lines of several processes do not mix. As root it gives an empty file to the owner of the
 * folder, because the service writes the file too.
 */
const WRITER_PROGRAM = `
const { appendFileSync, closeSync, fchownSync, fstatSync, fsyncSync, openSync, statSync } = require('node:fs')
const { dirname } = require('node:path')
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => undefined)
let rest = ''
process.stdin.setEncoding('utf8').on('data', (part) => {
  const blocks = (rest + part).split('\\0')
  rest = blocks.pop()
  for (const block of blocks) {
    let answer = 'taken'
    try {
      const file = openSync(process.argv[1], 'a', 0o600)
      try {
        if (process.getuid?.() === 0 && fstatSync(file).size === 0) {
          const { uid, gid } = statSync(dirname(process.argv[1]))
          fchownSync(file, uid, gid)
        }
        appendFileSync(file, block)
        fsyncSync(file)
      } finally {
        closeSync(file)
      }
    } catch (error) {
      answer = error.code ?? error.name
    }
    process.stdout.write(answer + '\\n')
  }
})`

type WriterProcess = ChildProcessByStdio<Writable, Readable, null>

/** Sets whether the child process keeps this process running. It may do so only while a write is under way. */
function setWriterKeepsParentRunning(writer: WriterProcess, how: 'ref' | 'unref'): void {
  writer[how]()
  for (const stream of [writer.stdin, writer.stdout]) if (stream instanceof Socket) stream[how]()
}

/**
 * The file was not written. `code` is the system's, or EPIPE: the writer ended; ETIMEDOUT: the write was aborted; EBUSY: the
 * killed writer has not ended yet.
 */
class WitnessFileError extends Error {
  readonly code: string
  constructor(code: string) {
    super('the file of the witness was not written')
    this.code = code
  }
}

export function fileWitness(path: string): WitnessTarget {
  let writer: WriterProcess | null = null
  const ensureWriter = (): WriterProcess => {
    if (writer !== null) return writer
    // The writer has its own process group: Ctrl-C must not end it before our last checkpoint. It gets no environment.
    const started: WriterProcess = spawn(process.execPath, ['-e', WRITER_PROGRAM, path], {
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: true,
      env: {},
    })
    const forget = (): void => {
      if (writer === started) writer = null
    }
    started.once('exit', forget).once('error', forget)
    started.stdin.on('error', () => undefined)
    writer = started
    return started
  }
  return {
    write: (lines, signal) =>
      new Promise((resolve, reject) => {
        if (writer?.killed === true) throw new WitnessFileError('EBUSY')
        const current = ensureWriter()
        const settle = (code: string): void => {
          current.stdout.removeAllListeners('data')
          current.removeListener('exit', ended).removeListener('error', ended)
          signal.removeEventListener('abort', abort)
          setWriterKeepsParentRunning(current, 'unref')
          if (code === 'taken') resolve()
          else reject(new WitnessFileError(code))
        }
        const ended = (): void => settle('EPIPE')
        const abort = (): void => {
          current.kill('SIGKILL')
          settle('ETIMEDOUT')
        }
        current.stdout.on('data', (answer: Buffer) => settle(answer.toString().trim()))
        current.once('exit', ended).once('error', ended)
        signal.addEventListener('abort', abort, { once: true })
        setWriterKeepsParentRunning(current, 'ref')
        current.stdin.write(`${lines.join('\n')}\n\0`)
      }),
    close() {
      writer?.stdin.end()
      return Promise.resolve()
    },
  }
}
