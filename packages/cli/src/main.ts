/** The entry point of the `rollcall` command. */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// The reader of our output may have closed it (`| head`, a closed terminal): no stack trace is printed.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

// Node caches compiled code beside the packages, if this user may write there: commands start in half the time.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/rollcall', import.meta.url)))

const { runCommand } = await import('./program.ts')
await runCommand(process.argv.slice(2))
