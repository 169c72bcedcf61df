/** The entry point of the `rollcall` command. */
import { fstatSync, writeFileSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// The reader of our output may have closed it (`| head`, a closed terminal), which is no failure. Any other failure is, such as a
// full disk: a secret that was to be printed is lost.
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
