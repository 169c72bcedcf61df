/** `rollcall listen`: receives callbacks, prints them, and gives them to a command. */
import { type Handlers, type Received, Receiver, type Rejected, TransportError } from '@rollcall/client'
import type { Command } from 'commander'
import { makeClient } from '../asking/failures.ts'
import {
  createExecHandOver,
  ExecCommandFailed,
  listenForCallbacks,
  type PeerOptions,
  readListenSettings,
  warnOfOpenHost,
} from '../asking/listening.ts'
import { printableJson, toPrintableLine } from '../asking/printing.ts'
import { addKeyOptions } from '../asking/registry-options.ts'
import { itemText, nameValueLines, outcomeText, summariseMessage } from '../asking/summary.ts'
import { OutputFailed } from '../failure.ts'
import { type OutputOptions, outputFailure, withJsonOption, writeOutput } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { collectOption, wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('listen')
    .description('receive the callbacks of registries and print them, until Ctrl-C')
    .option('--port <port>', 'port to listen on', wholeNumberReader(0, 65_535), 8090)
    .option('--host <address>', 'address of this machine to listen on', '127.0.0.1')
    .option(
      '--peer <sender_id=keys>',
      "a registry, with its address, the address of its key set, or a file of keys; give it again for more (default: the demo's registries)",
      collectOption,
    )
    .option('--sender-id <sender_id>', "our sender_id at the registries (default: the demo's participant)")
    .option('--body', 'also print the messages, which may be personal data')
    .option(
      '--exec <command>',
      'command that gets each envelope on standard input; the callback is acknowledged when it ends with exit code 0',
    )
  withJsonOption(addKeyOptions(command))
    .addHelpText(
      'after',
      `
It accepts callbacks at any path. A callback whose signature does not verify is refused, and a line says so. When
the command of --exec ends with another exit code, the callback is not acknowledged and the registry sends it again.
Commands run one after the other.

Example: rollcall listen
Example: rollcall listen --peer civil.example.org=https://registry.example.org --sender-id spmis.example.org \\
           --exec 'cat >> callbacks.ndjson'`,
    )
    .action(runListen)
}

interface ListenOptions extends PeerOptions, OutputOptions {
  readonly port: number
  readonly host: string
  readonly body?: true
  readonly exec?: string
}

async function runListen(options: ListenOptions): Promise<void> {
  const stop = listenForStop()
  const { host, port, exec, json } = options
  const listening = await readListenSettings(options)
  const give = exec === undefined ? null : createExecHandOver(exec, json ? 'stderr' : 'inherit')
  const receiver = makeClient(
    () =>
      new Receiver({
        ...listening,
        handlers: makeCallbackHandlers(options, give),
        held: { callbacks: 1 },
        on_error: reportError,
      }),
  )
  warnOfOpenHost(host)
  const server = await listenForCallbacks({ host, port }, async (request) => {
    const response = await receiver.handle(request)
    await reportRefusal(response.clone(), options)
    return response
  })
  try {
    // The line below goes to standard error, because standard output has only callbacks and the reasons of refused ones.
    process.stderr.write(
      `listening on ${server.url} for callbacks of ${listening.peers.map(({ sender_id }) => sender_id).join(', ')}; Ctrl-C ends it\n`,
    )
    await Promise.race([stop.asked, outputFailure()])
  } finally {
    await server.close()
  }
}

type ReceivedCallback = Received | Rejected

function makeCallbackHandlers(options: ListenOptions, give: ReturnType<typeof createExecHandOver> | null): Handlers {
  const handle = async (callback: ReceivedCallback): Promise<void> => {
    await printCallback(callback, options)
    const { header } = callback
    await give?.('message' in callback ? { header, message: callback.message } : { header })
  }
  return {
    'on-search': handle,
    'on-subscribe': handle,
    'on-unsubscribe': handle,
    'txn-on-status': handle,
    notify: handle,
    rejected: handle,
  }
}

async function printCallback(callback: ReceivedCallback, options: ListenOptions): Promise<void> {
  const summary = summariseMessage(callback)
  const time = new Date().toISOString()
  const body = options.body && 'message' in callback ? { body: callback.message } : {}
  if (options.json) {
    await writeOutput(`${JSON.stringify({ time, callback: callback.name, ...summary, ...body })}\n`)
    return
  }
  const { sender_id, signed, encrypted, message_id, transaction_id, correlation_id, items } = summary
  const seals = [signed ? 'signed' : 'not signed', ...(encrypted ? ['encrypted'] : [])].join(', ')
  const rows = { message: message_id, transaction: transaction_id, correlation: correlation_id, status: outcomeText(summary) }
  const lines = [
    toPrintableLine(`${time}  ${callback.name} from ${sender_id ?? '?'}, ${seals}`),
    ...nameValueLines(rows),
    ...items.map((item) => `  ${itemText(item)}`),
    ...Object.values(body).map(printableJson),
  ]
  await writeOutput(`${lines.join('\n')}\n\n`)
}

/** Prints the reason why a callback was refused, such as a wrong signature. Prints nothing of the callback itself. */
async function reportRefusal(response: Response, { json }: ListenOptions): Promise<void> {
  // A status of 500 or more asks the sender to send the callback again. `on_error` has reported an internal error.
  if (response.ok || response.status >= 500) return
  const { errors } = (await response.json()) as { errors: readonly { code: string; message: string }[] }
  const [error = { code: '', message: '' }] = errors
  const time = new Date().toISOString()
  process.stdout.write(
    json
      ? `${JSON.stringify({ time, refused: { ...error, http_status: response.status } })}\n`
      : `${toPrintableLine(`${time}  refused: ${error.code}: ${error.message} (HTTP ${response.status})`)}\n\n`,
  )
}

function reportError(error: unknown): void {
  if (error instanceof OutputFailed) return
  process.stderr.write(`rollcall: ${toPrintableLine(callbackProblemText(error))}; the sender is asked to send it again\n`)
}

function callbackProblemText(error: unknown): string {
  if (error instanceof ExecCommandFailed) return error.message
  if (error instanceof TransportError) return `the keys of the sender cannot be fetched: ${error.message}`
  return `the callback could not be handled (${error instanceof Error ? error.name : 'unknown'})`
}
