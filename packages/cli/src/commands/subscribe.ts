/** `rollcall subscribe`: subscribes to events of any registry, and with --listen prints them as they come. */
import { itemsOrThrow, onEvent, type RegistryClient, resultsOf, type SubscribeInput } from '@rollcall/client'
import type { Command } from 'commander'
import { withCallbacks } from '../asking/called-back.ts'
import { callClient } from '../asking/failures.ts'
import { toPrintableLine } from '../asking/printing.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { ackText, sendWithoutListening } from '../asking/requests.ts'
import {
  eventJson,
  eventText,
  existingSubscriptionsText,
  listExistingSubscriptionCodes,
  readSubscription,
  type SubscriptionOptions,
  subscriptionCodes,
} from '../asking/subscriptions.ts'
import { type RegistryTarget, readAddress, readRegistryTarget } from '../asking/target.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, outputFailure, printResult, withJsonOption, writeOutput } from '../output.ts'
import { listenForStop, type StopRequest } from '../stop.ts'
import { collectOption, readInstant, wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('subscribe')
    .description('subscribe to events of a registry, and print them as they happen')
    .argument('[namespace]', 'a registry of the demo on this machine (or --url)')
    .requiredOption('--event <type>', 'type of the events, such as LiveBirth')
    .option('--identifier <type=value>', 'only events of the record with this identifier', collectOption)
    .option('--where <json>', 'only events of records that fulfil conditions, such as {"sex": "female"}')
    .option('--graphql <text>', 'only events of records that fulfil a GraphQL query')
    .option('--query <file>', 'file with a query in JSON, as in rollcall search; - for standard input')
    .option('--record-type <type>', 'record type to be sent (default: the first of the kind)')
    .option('--frequency <cron>', 'send together what happened, by a cron expression or a word such as daily')
    .option('--start <time>', 'when the frequency begins (default: now)', readInstant)
    .option('--until <time>', 'when it ends, and the subscription with it', readInstant)
    .option('--sender-uri <address>', 'the full address of the callback')
    .option(
      '--listen [port]',
      'listen there (default: at any free port), print events until Ctrl-C, then unsubscribe',
      wholeNumberReader(0, 65_535),
    )
    .option('--keep', 'with --listen: do not unsubscribe at the end')
    .option('--replace', 'with --listen: end a subscription to the same that you have, and subscribe again')
    .option('--wait <seconds>', 'time to wait for the callback', wholeNumberReader(1, 86_400), 60)
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
Without --listen, notifications go to --sender-uri with on-subscribe replaced by notify, or to where the registry has
you on file, and the command ends with the acknowledgement. With --json each event is one line. The other options are
those of rollcall search.

Example: rollcall subscribe civil --event Death --identifier UIN=8128560370
Example: rollcall subscribe civil --event LiveBirth --where '{"sex": "female"}' --listen`,
    )
    .action(runSubscribe)
}

interface SubscribeOptions extends RegistryOptions, SubscriptionOptions, OutputOptions {
  readonly senderUri?: string
  /** The port on which notifications are received; true: any free port. */
  readonly listen?: number | true
  readonly keep?: true
  readonly replace?: true
  readonly wait: number
}

async function runSubscribe(namespace: string | undefined, options: SubscribeOptions): Promise<void> {
  const stop = listenForStop()
  const target = await readRegistryTarget({ ...options, ...(namespace !== undefined && { registry: namespace }) })
  const criteria = await readSubscription(options, target)
  const sender_uri = options.senderUri === undefined ? undefined : readAddress('--sender-uri', options.senderUri).href
  if (options.listen === undefined) {
    const asked = { sender_uri, signal: stop.signal }
    const accepted = await sendWithoutListening(target, asked, (asking) =>
      asking.subscribeAsync(criteria, { signal: stop.signal }),
    )
    printResult(options, accepted, ackText(accepted, 'subscribe'))
    return
  }
  await subscribeAndListen(target, criteria, options, { stop, sender_uri, port: options.listen, namespace })
}

async function subscribeAndListen(
  target: RegistryTarget,
  criteria: SubscribeInput,
  options: SubscribeOptions,
  {
    stop,
    sender_uri,
    port,
    namespace = 'registry',
  }: {
    readonly stop: StopRequest
    readonly sender_uri: string | undefined
    readonly port: number | true
    readonly namespace: string | undefined
  },
): Promise<void> {
  const tell = async (record: unknown, context: Parameters<typeof eventText>[1]): Promise<void> => {
    const text = options.json ? JSON.stringify(eventJson(record, context)) : `${eventText(record, context)}\n`
    await writeOutput(`${text}\n`)
  }
  const wait = {
    at: { host: '127.0.0.1', port: port === true ? 0 : port },
    sender_uri,
    callback_timeout: options.wait * 1_000,
    handlers: { notify: onEvent({ otherwise: tell }) },
  }
  await withCallbacks(target, wait, async (asking, rejected) => {
    const signal = AbortSignal.any([stop.signal, rejected])
    const make = () => subscribeAndGetCodes(asking, criteria, signal)
    const codes = await callClient(
      make().catch(async (error: unknown) => {
        const same = listExistingSubscriptionCodes(error)
        if (same.length === 0) throw error
        if (options.replace !== true) throw new CommandError(toPrintableLine(existingSubscriptionsText(same, namespace)))
        await endSubscriptions(asking, same, { signal })
        process.stderr.write(`${toPrintableLine(`unsubscribed from ${same.join(', ')}, which was to the same`)}\n`)
        return make()
      }),
      stop.signal,
    )
    // Standard output is only for events.
    process.stderr.write(`${toPrintableLine(`subscribed as ${codes.join(', ')}; Ctrl-C ends it`)}\n`)
    await Promise.race([stop.asked, outputFailure()])
    if (options.keep === true) return
    await callClient(endSubscriptions(asking, codes))
    process.stderr.write('unsubscribed\n')
  })
}

/** Subscribes, and returns the codes of the subscriptions that the registry has made. */
async function subscribeAndGetCodes(asking: RegistryClient, criteria: SubscribeInput, signal: AbortSignal): Promise<string[]> {
  const answer = await asking.subscribe(criteria, { signal })
  const codes = resultsOf(answer).flatMap((result) => {
    if (!result.ok) throw result.rejection
    const { status_reason_message: more } = result.item
    if (more !== undefined) process.stderr.write(`${toPrintableLine(more)}\n`)
    return subscriptionCodes(result.item)
  })
  return codes
}

/**
 * Ends subscriptions, and prints the registry's message about them, if there is one.
 * @throws ItemRejected the registry has ended none of them
 */
async function endSubscriptions(
  asking: RegistryClient,
  codes: readonly string[],
  options: { readonly signal?: AbortSignal } = {},
): Promise<void> {
  const [message] = itemsOrThrow(await asking.unsubscribe(codes, options))
  const more = message?.status_reason_message
  if (more !== undefined) process.stderr.write(`${toPrintableLine(more)}\n`)
}
