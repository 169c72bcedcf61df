/** `rollcall unsubscribe`: asks a registry, of the demo or at any address, to end subscriptions. */
import { itemsOrThrow } from '@rollcall/client'
import type { UnSubscribeResponse } from '@rollcall/protocol'
import type { Command } from 'commander'
import { withCallbacks } from '../asking/called-back.ts'
import { callClient } from '../asking/failures.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { ackText, sendWithoutListening } from '../asking/requests.ts'
import { readAddress, readRegistryTarget } from '../asking/target.ts'
import { type OutputOptions, printResult, tableText, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('unsubscribe')
    .description('end subscriptions at a registry')
    .argument('<namespace>', 'a registry of the demo on this machine; with --url, any word')
    .argument('<code...>', 'codes of the subscriptions')
    .option('--sender-uri <address>', 'the full address of the callback; do not wait for it')
    .option('--listen <port>', 'port at which to wait for the callback', wholeNumberReader(0, 65_535), 0)
    .option('--wait <seconds>', 'time to wait for the callback', wholeNumberReader(1, 86_400), 60)
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
It waits for the callback and prints the subscriptions that have ended. The other options are those of rollcall search.

Example: rollcall unsubscribe civil SUB-4P7QD2MZ3KXRJ5TN6WYBH8CV`,
    )
    .action(runUnsubscribe)
}

interface UnsubscribeOptions extends RegistryOptions, OutputOptions {
  readonly senderUri?: string
  readonly listen: number
  readonly wait: number
}

async function runUnsubscribe(namespace: string, codes: readonly string[], options: UnsubscribeOptions): Promise<void> {
  const { signal } = listenForStop()
  const target = await readRegistryTarget({ registry: namespace, ...options })
  if (options.senderUri !== undefined) {
    const sender_uri = readAddress('--sender-uri', options.senderUri).href
    const accepted = await sendWithoutListening(target, { sender_uri, signal }, (asking) =>
      asking.unsubscribeAsync(codes, { signal }),
    )
    printResult(options, accepted, ackText(accepted, 'unsubscribe'))
    return
  }
  const wait = { at: { host: '127.0.0.1', port: options.listen }, sender_uri: undefined, callback_timeout: options.wait * 1_000 }
  const message = await withCallbacks(target, wait, async (asking, rejected) => {
    const answer = asking.unsubscribe(codes, { signal: AbortSignal.any([signal, rejected]) })
    return callClient(
      answer.then((callback) => itemsOrThrow(callback)[0]),
      signal,
    )
  })
  printEndedSubscriptions(options, message)
}

function printEndedSubscriptions(options: OutputOptions, message: UnSubscribeResponse | undefined): void {
  const ended = message?.subscription_status ?? []
  const reason = message?.status_reason_message
  const text = tableText(['code', 'status'], ended, 'no subscription has ended')
  printResult(options, { ended, reason: reason ?? null }, reason === undefined ? text : `${text}\n${reason}`)
}
