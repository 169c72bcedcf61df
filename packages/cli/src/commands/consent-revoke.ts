/** `rollcall consent revoke`: revokes the consents whose ids (`jti`) a file lists. */
import { revokeConsents } from '@rollcall/admin/consents/consents'
import type { Command } from 'commander'
import { withdrawalText } from '../consent-text.ts'
import { callWithDatabase } from '../environment.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { readYaml } from '../yaml.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .requiredOption('--file <file>', 'the list in JSON or YAML: authority, and revoked with a list of jti')
    .addHelpText('after', '\nExample: rollcall consent revoke --file revoked.yaml')
    .action(async ({ file, ...options }: OutputOptions & { readonly file: string }) => {
      listenForStop()
      const { value, refusedWithLine } = await readYaml(file, '--file')
      const done = await refusedWithLine(() => callWithDatabase(revokeConsents, value as Parameters<typeof revokeConsents>[1]))
      printResult(options, done, withdrawalText(done))
    })
}
