/** `rollcall participant test`: a round trip to a participant's callback address, before anything real is sent. */
import { testCallback } from '@rollcall/admin/callbacks/callbacks'
import type { Command } from 'commander'
import { withDatabase } from '../environment.ts'
import { EXIT } from '../failure.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'

export function addTestCommand(participant: Command): void {
  withJson(participant.command('test'))
    .description('send a signed test message to a participant, and print every step')
    .argument('<sender_id>', 'its sender_id')
    .option('--to <url>', 'address to send it to, one that a request could name (default: its default address)')
    .option('--registry <namespace>', 'namespace of the registry that sends it (default: the first registry)')
    .addHelpText(
      'after',
      `
The message is an on-search without items, for a transaction that does not exist. A participant that works
acknowledges it, or refuses it in an acknowledgement. Nothing of it is stored here.

Exit codes: 0 the participant answered in one of these ways, 1 it did not.

Example: rollcall participant test spmis.example.org`,
    )
    .action(runTest)
}

interface TestOptions extends OutputOptions {
  readonly to?: string
  readonly registry?: string
}

async function runTest(sender_id: string, { to, registry, ...options }: TestOptions): Promise<void> {
  stopRequest()
  const tried = await withDatabase(({ config, ...needs }) =>
    testCallback({ ...needs, signatureNamespaces: config.signatureNamespaces }, { sender_id, to, registry }),
  )
  const lines = tried.steps.map(({ step, ok, told }) => `${ok ? 'ok    ' : 'failed'}  ${step.padEnd(12)}${told}`)
  const answer = tried.answer === '' ? [] : [`        ${tried.answer}`]
  print(options, tried, [...lines, ...answer].join('\n'))
  if (!tried.ok) process.exitCode = EXIT.failed
}
