/** The entry point of the `rollcall` command. */
import { fstatSync, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// It is no failure when the reader closes our output (`| head`, a closed terminal). Any other error, such as a full disk, is
// reported once, and the exit code is 1: a secret that was to be printed is lost.
let hasReported = false
process.stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  if (code === 'EPIPE' || hasReported) return
  hasReported = true
  process.stderr.write(`rollcall: the output cannot be written (${code})\n`)
  process.once('exit', () => {
    process.exitCode = 1
  })
})
// When a disk is full, a write to a file stores only a part, and Node's own stream reports no error. `writeFileSync` does.
if (fstatSync(1).isFile()) {
  process.stdout._write = (chunk: Uint8Array, _encoding, done) => {
    try {
      writeFileSync(1, chunk)
    } catch (error) {
      return done(error as Error)
    }
    done()
  }
}
process.stderr.on('error', () => undefined)

// Node caches compiled code beside the packages, if this user may write there: commands start in half the time.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/rollcall', import.meta.url)))

const { runCommand } = await import('./program.ts')
await runCommand(process.argv.slice(2))
