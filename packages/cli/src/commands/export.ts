/** `rollcall export`: the configuration of a database as a file. */
import { exportConfiguration } from '@rollcall/admin/configuration/apply'
import type { Command } from 'commander'
import { stringify } from 'yaml'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addCommand(program: Command): void {
  withJson(program.command('export'))
    .description('print the registries, the participants and their grants as a file for rollcall apply')
    .addHelpText(
      'after',
      `
No secret stands in it: no client secret, and no credentials for callbacks. docs/configuration.md explains the file.

Example: rollcall export > rollcall.yaml`,
    )
    .action(runExport)
}

async function runExport(options: OutputOptions): Promise<void> {
  stopRequest()
  const configuration = await ask(exportConfiguration, {})
  print(options, configuration, stringify(configuration, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd())
}
