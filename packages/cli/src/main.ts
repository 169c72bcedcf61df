/** The `rollcall` command. */
import { runCommand } from './program.ts'

// Whoever read our output may have gone (`| head`, a closed terminal): that is no reason to die with a stack.
process.stdout.on('error', () => undefined)
process.stderr.on('error', () => undefined)

await runCommand(process.argv.slice(2))
