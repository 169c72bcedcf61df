/** `rollcall status`: asks a registry for the status of an earlier request. */
import { RegistryClient, resultsOf, type StatusQuestion } from '@rollcall/client'
import { type Command, Option } from 'commander'
import { callClient, makeClient } from '../asking/failures.ts'
import { printableJson, toPrintableLine } from '../asking/printing.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { itemText, type MessageSummary, nameValueLines, outcomeText, summariseMessage } from '../asking/summary.ts'
import { readRegistryTarget } from '../asking/target.ts'
import { CommandError, EXIT_CODES } from '../failure.ts'
import { type OutputOptions, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { collectOption } from '../values.ts'

/** The values of `txn_type`, the type of the earlier request. `receipt` asks for the receipt of an enrolment update. */
const TRANSACTION_TYPES = ['search', 'subscribe', 'unsubscribe', 'receipt'] as const

export function addCommand(program: Command): void {
  const command = program
    .command('status')
    .description('ask a registry for the state of an earlier request')
    .option('--transaction-id <id>', 'transaction_id of the request')
    .option('--correlation-id <id>', 'correlation_id that its acknowledgement had')
    .option('--reference-id <id>', 'reference_id of one of its items; give it again for more', collectOption)
    .option('--subscription-code <code>', 'code of a subscription; give it again for more', collectOption)
    .addOption(new Option('--type <type>', 'type of the request').choices(TRANSACTION_TYPES).default('search'))
    .option('--body', 'also print the original response, with its records')
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
A registry answers only for requests of the same sender_id. The other options are those of rollcall search.

Example: rollcall status --correlation-id 0b7c1f0e-5d0c-4a55-b2c4-8b3b8f6f3a11`,
    )
    .action(runStatus)
}

interface StatusOptions extends RegistryOptions, OutputOptions {
  readonly transactionId?: string
  readonly correlationId?: string
  readonly referenceId?: readonly string[]
  readonly subscriptionCode?: readonly string[]
  readonly type: (typeof TRANSACTION_TYPES)[number]
  readonly body?: true
}

async function runStatus(options: StatusOptions): Promise<void> {
  const { signal } = listenForStop()
  const question = readStatusQuestion(options)
  const { client } = await readRegistryTarget(options)
  const asking = makeClient(() => new RegistryClient(client))
  const answer = await callClient(asking.txnStatus(question, { signal }), signal)
  const { txn_type, txn_status } = answer.message.txnstatus_response
  // The registry has rejected the status request: it may not know the earlier request. `unknown.rejection` has the reason.
  if (answer.header.status === 'rjct') {
    const [unknown] = resultsOf(answer)
    if (unknown?.ok === false && options.json !== true) await callClient(Promise.reject(unknown.rejection))
    process.exitCode = EXIT_CODES.failed
  }
  // `txn_status` has the transaction_id of the earlier request. `answer.message` has that of the status request.
  const { header, signed, encrypted } = answer
  const embedded = summariseMessage({ header: {}, message: txn_status, signed, encrypted })
  const summary: MessageSummary = { ...embedded, sender_id: summariseMessage({ header, signed }).sender_id, message_id: null }
  const body = options.body === true ? { body: txn_status } : {}
  process.stdout.write(
    options.json
      ? `${JSON.stringify({ txn_type, ...summary, ...body })}\n`
      : `${[statusText(txn_type, summary), ...Object.values(body).map(printableJson)].join('\n')}\n`,
  )
}

function readStatusQuestion(options: StatusOptions): StatusQuestion {
  const { transactionId, correlationId, referenceId, subscriptionCode, type: txn_type } = options
  const given: StatusQuestion[] = []
  if (transactionId !== undefined) given.push({ txn_type, attribute_type: 'transaction_id', attribute_value: transactionId })
  if (correlationId !== undefined) given.push({ txn_type, attribute_type: 'correlation_id', attribute_value: correlationId })
  if (referenceId !== undefined) given.push({ txn_type, attribute_type: 'reference_id_list', attribute_value: [...referenceId] })
  if (subscriptionCode !== undefined)
    given.push({ txn_type, attribute_type: 'subscription_code_list', attribute_value: [...subscriptionCode] })
  const [question, ...others] = given
  if (question !== undefined && others.length === 0) return question
  throw new CommandError(
    'name the request, with exactly one of --transaction-id, --correlation-id, --reference-id and --subscription-code',
  )
}

function statusText(txn_type: string, summary: MessageSummary): string {
  const { transaction_id, correlation_id, items } = summary
  const rows = { transaction: transaction_id, correlation: correlation_id, status: outcomeText(summary) }
  return [
    toPrintableLine(`${txn_type} asked of ${summary.sender_id ?? 'an unnamed registry'}`),
    ...nameValueLines(rows),
    ...items.map((item) => `  ${itemText(item)}`),
  ].join('\n')
}
