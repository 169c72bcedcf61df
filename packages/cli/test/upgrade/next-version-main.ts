/** The `rollcall` command of a version after this one (`next-version.ts`). */
import { becomeNextVersion } from '../../../database/test/next-version.ts'
import { runCommand } from '../../src/program.ts'

becomeNextVersion()
await runCommand(process.argv.slice(2))
