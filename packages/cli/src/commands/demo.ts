/** `rollcall demo` (npm start): runs a registry of synthetic people for each kind, with participants to ask them. */
import type { Command } from 'commander'
import { withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import type { DemoOptions } from './demo-run.ts'

/** Printed first: loading a server takes seconds, and the first start makes and fills a database. */
export const STARTING_TEXT = 'The demo is starting; the first time that takes about half a minute. A line says when it listens.\n'

export function addCommand(program: Command): void {
  withJsonOption(program.command('demo'))
    .description('run a demo: a registry of synthetic people for each kind, and a participant whose secret is in demo.json')
    .option('--no-receiver', "run no receiver of callbacks, and leave that to 'rollcall listen'")
    .addHelpText(
      'after',
      `
It listens on this machine only, unless ROLLCALL_DEMO_REMOTE=1; its database is its own. With PORT=0 it takes
any free port. $ROLLCALL_DATA/demo.json has its addresses and identifiers to search for. The demo is complete when
/ready answers 200. It also runs a receiver of callbacks on this machine, for its participant, and prints the address of a
page that makes it fail, and lets it answer again.

Example: PORT=9000 rollcall demo`,
    )
    .action(async (options: DemoOptions) => {
      const stop = listenForStop()
      process.stderr.write(STARTING_TEXT)
      const { runDemo } = await import('./demo-run.ts')
      await runDemo(stop, options)
    })
}
