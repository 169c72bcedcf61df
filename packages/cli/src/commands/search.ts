/** `rollcall search`: searches in any registry of this protocol, synchronously or with callbacks. */

import { RegistryClient, resultsOf, type SearchInput } from '@rollcall/client'
import type { SearchCriteria } from '@rollcall/protocol'
import type { Command } from 'commander'
import { callClient, makeClient } from '../asking/failures.ts'
import { printableJson, toPrintableLine } from '../asking/printing.ts'
import { readQuestions, type SearchQueryOptions } from '../asking/questions.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { ackText, sendWithoutListening } from '../asking/requests.ts'
import { searchAndWait } from '../asking/search-later.ts'
import {
  hasFurtherPages,
  itemsOf,
  itemText,
  type MessageSummary,
  type OpenedEnvelope,
  recordsOf,
  summariseMessage,
} from '../asking/summary.ts'
import { type RegistryTarget, readAddress, readRegistryTarget } from '../asking/target.ts'
import { CommandError, EXIT_CODES } from '../failure.ts'
import { countWithNoun, type OutputOptions, printResult, withJsonOption, writeOutput } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { collectOption, wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('search')
    .description('ask a registry for records: any registry of this protocol, or the demo on this machine')
    .option('--identifier <type=value>', 'search by an identifier; give it again for a batch', collectOption)
    .option('--where <json>', 'search by conditions, such as {"sex": "female", "age": {"$lt": 30}}')
    .option('--graphql <text>', 'search by a GraphQL query, which also selects the fields of the answer')
    .option('--query <file>', 'file with a query, search_criteria or a whole request in JSON; - for standard input')
    .option('--record-type <type>', 'record type to search (default: the first of the kind)')
    .option('--sort <attribute>', 'sort by this attribute, descending with :desc; give it again for the next one', collectOption)
    .option('--page-size <number>', 'records on a page', wholeNumberReader(1, 2_147_483_647))
    .option('--page <number>', 'number of the page', wholeNumberReader(1, 2_147_483_647))
    .option('--consent-purpose <code>', 'purpose code of the consent: it was given now, unless --consent-jws is given')
    .option('--consent-jws <file>', 'file with a consent that an authority has signed (docs/consent.md); - for standard input')
    .option('--all', 'fetch every page, one after the other')
    .option('--async', 'ask asynchronously: the answer comes as a callback')
    .option('--sender-uri <address>', 'the full address of the callback (implies --async)')
    .option('--listen <port>', 'listen there and wait for the callback (implies --async)', wholeNumberReader(0, 65_535))
    .option('--wait <seconds>', 'time to wait for each callback', wholeNumberReader(1, 86_400), 60)
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
With a demo on this machine (npm start) no other option is needed. The demo's credentials and keys are used for its
address only.
An identifier on the command line may stay in the history of the shell; one in --query - does not.
--json prints one JSON text for each answer or callback; with --all one record on each line.
Exit codes: 0 answered, 1 failed or every item was rejected, 3 some items were rejected.

Example: rollcall search --identifier UIN=8128560370
Example: rollcall search --identifier UIN=8128560370 --consent-jws consent.jws
Example: rollcall search --url https://registry.example.org/civil/v1.0.0 --sender-id spmis.example.org \\
           --client-id 7f0c --client-secret-file secret.txt --sign-key private-key.pem --sign-kid sig-2026 \\
           --where '{"age": {"$gte": 65}}' --all`,
    )
    .action(runSearch)
}

interface SearchOptions extends RegistryOptions, SearchQueryOptions, OutputOptions {
  readonly all?: true
  readonly async?: true
  readonly senderUri?: string
  readonly listen?: number
  readonly wait: number
}

async function runSearch(options: SearchOptions): Promise<void> {
  const { signal } = listenForStop()
  const questions = await readQuestions(options)
  const target = await readRegistryTarget(options)
  const isAsync = options.async === true || options.senderUri !== undefined || options.listen !== undefined
  if (isAsync) await searchWithCallback(target, questions, options, signal)
  else if (options.all === true) await askForAllPages(target, questions, options, signal)
  else await askSynchronously(target, questions, options, signal)
}

async function askSynchronously(
  { client }: RegistryTarget,
  questions: readonly SearchInput[],
  options: SearchOptions,
  signal: AbortSignal,
): Promise<void> {
  const asking = makeClient(() => new RegistryClient(client))
  const answer = await callClient(asking.search(questions, { signal }), signal)
  // If the only search item is rejected, the command fails with the rejection. With --json the answer is printed instead.
  const [only, ...others] = resultsOf(answer)
  if (only?.ok === false && others.length === 0 && options.json !== true) {
    await callClient(Promise.reject(only.rejection))
  }
  printAnswer(answer, options)
  const more = summariseMessage(answer).items.some(hasFurtherPages)
  if (more && options.json !== true) process.stdout.write('there are more records; --page or --all shows them\n')
}

async function askForAllPages(
  { client }: RegistryTarget,
  questions: readonly SearchInput[],
  options: SearchOptions,
  signal: AbortSignal,
): Promise<void> {
  const [question, ...others] = questions
  if (question === undefined || others.length > 0) throw new CommandError('--all needs exactly one question')
  const criteria: SearchCriteria = 'search_criteria' in question ? question.search_criteria : question
  const records = makeClient(() => new RegistryClient(client)).searchAll(criteria, { signal })
  let told = 0
  for (;;) {
    const { done, value } = await callClient(records.next(), signal)
    if (done) break
    told += 1
    await writeOutput(`${options.json ? JSON.stringify(value) : printableJson(value)}\n`)
  }
  if (!options.json) process.stdout.write(`${countWithNoun(told, 'record')} in all\n`)
}

async function searchWithCallback(
  target: RegistryTarget,
  questions: readonly SearchInput[],
  options: SearchOptions,
  signal: AbortSignal,
): Promise<void> {
  const sender_uri = options.senderUri === undefined ? undefined : readAddress('--sender-uri', options.senderUri).href
  if (options.listen === undefined) {
    const accepted = await sendWithoutListening(target, { sender_uri, signal }, (asking) =>
      asking.searchAsync(questions, { signal }),
    )
    printResult(options, accepted, ackText(accepted))
    return
  }
  const at = { host: '127.0.0.1', port: options.listen }
  await searchAndWait(target, questions, {
    at,
    sender_uri,
    signal,
    timeout: options.wait * 1_000,
    accepted: ({ correlation_id }) => {
      const line = toPrintableLine(`accepted, correlation_id ${correlation_id}; waiting for the callback`)
      process.stderr.write(`${line}\n`)
    },
    callback: (callback) => printAnswer(callback, options),
  })
}

/** Prints an answer with its records, and sets an exit code if items were rejected. */
function printAnswer(said: OpenedEnvelope, options: OutputOptions): void {
  const summary = summariseMessage(said)
  const records = itemsOf(said.message ?? {}).map(recordsOf)
  const items = summary.items.map((item, at) => ({ ...item, records: records[at] ?? [] }))
  if (options.json) process.stdout.write(`${JSON.stringify({ ...summary, items })}\n`)
  else process.stdout.write(`${answerText(summary, records)}\n`)
  const rejected = summary.items.filter(({ status }) => status === 'rjct').length
  if (rejected > 0) process.exitCode = rejected === summary.items.length ? EXIT_CODES.failed : EXIT_CODES.some_rejected
}

function answerText(summary: MessageSummary, records: readonly (readonly unknown[])[]): string {
  const seals = [summary.signed ? 'signed' : 'not signed', ...(summary.encrypted ? ['encrypted'] : [])]
  const head = toPrintableLine(`from ${summary.sender_id ?? 'an unnamed registry'}, ${seals.join(', ')}`)
  const parts = summary.items.flatMap((item, at) => [itemText(item), ...(records[at] ?? []).map(printableJson)])
  return [head, ...parts].join('\n')
}
