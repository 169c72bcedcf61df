/** `rollcall audit evidence`: writes evidence of the audit entries of a message into a file. */
import { makeEvidence } from '@rollcall/admin/audit/evidence'
import type { Command } from 'commander'
import { callWithDatabase } from '../environment.ts'
import { refuseUnwritablePath, writeNewFile } from '../new-file.ts'
import { type OutputOptions, printResult, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'

export function defineCommand(command: Command): void {
  withJsonOption(command)
    .argument('<message_id>', 'message_id of a request, or of our reply')
    .requiredOption('--out <file>', 'the file to write')
    .option('--participant <sender_id>', 'where several participants have used this message_id')
    .addHelpText('after', '\nExample: rollcall audit evidence 5f0c2b7e-0d52 --out evidence.json')
    .action(runEvidence)
}

async function runEvidence(
  message_id: string,
  { out, participant, ...options }: OutputOptions & { readonly out: string; readonly participant?: string },
): Promise<void> {
  listenForStop()
  await refuseUnwritablePath(out)
  const evidence = await callWithDatabase(makeEvidence, { message_id, participant })
  await writeNewFile(out, `${JSON.stringify(evidence, null, 2)}\n`)
  const written = { file: out, accounts: evidence.accounts.length, kid: evidence.kid }
  printResult(options, written, `written: ${out}, signed with ${evidence.kid}; rollcall audit check verifies it`)
}
