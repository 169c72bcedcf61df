/** The `rollcall` command. */
import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'

// Whoever read our output may have gone (`| head`, a closed terminal): that is no reason to die with a stack.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

// What Node made of the sources is kept beside the packages, for whoever may write there and nobody else: a command
// starts in half the time. Where it cannot be kept, nothing changes.
enableCompileCache(fileURLToPath(new URL('../../../node_modules/.cache/rollcall', import.meta.url)))

const { runCommand } = await import('./program.ts')
await runCommand(process.argv.slice(2))
