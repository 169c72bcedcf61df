/** `rollcall check`: sends requests to a registry as the user's system does, step by step, and says which step fails. */
import { callbacksAt } from '@rollcall/client'
import { KINDS } from '@rollcall/protocol'
import type { Command } from 'commander'
import { type CheckStepResult, runSystemCheck } from '../asking/checking.ts'
import { toPrintableLine } from '../asking/printing.ts'
import { readQuestions } from '../asking/questions.ts'
import { addRegistryOptions, type RegistryOptions } from '../asking/registry-options.ts'
import { type RegistryTarget, readAddress, readRegistryTarget } from '../asking/target.ts'
import { CommandError, EXIT_CODES } from '../failure.ts'
import { type OutputOptions, withJsonOption } from '../output.ts'
import { listenForStop } from '../stop.ts'
import { collectOption, wholeNumberReader } from '../values.ts'

export function addCommand(program: Command): void {
  const command = program
    .command('check')
    .description('ask a registry as our system would, step by step, and print what came')
    .argument('[namespace]', 'a registry of the demo on this machine (or --url)')
    .requiredOption('--identifier <type=value>', 'a person of whom the registry has a record', collectOption)
    .option('--event <type>', 'type of event to subscribe to (default: no subscription)')
    .option('--record-type <type>', 'record type to be notified of (default: the first of the kind)')
    .option('--sync-only', 'only a search: for a system that asks synchronously')
    .option('--listen <port>', 'port at which to wait for callbacks (default: any free port)', wholeNumberReader(0, 65_535), 0)
    .option(
      '--callback-url <address>',
      'address at which the registry reaches that port; registry/on-search and the like are added to it',
    )
    .option('--wait <seconds>', 'time to wait for each callback', wholeNumberReader(1, 86_400), 60)
  withJsonOption(addRegistryOptions(command))
    .addHelpText(
      'after',
      `
This command asks; what the registry saw of it, its operator reads with rollcall participant check (docs/sandbox.md). The second
on-search (retry) and the test notification come only if the operator runs that command at the same time, with --wait. The command
ends at the first step that fails. With --event it makes a subscription, and ends it. The other options are those of rollcall search.

Exit codes: 0 every step has passed, 1 a step has not.

Example: rollcall check civil --identifier UIN=8128560370 --sync-only`,
    )
    .action(runCheck)
}

interface CheckOptions extends RegistryOptions, OutputOptions {
  readonly identifier: readonly string[]
  readonly event?: string
  readonly recordType?: string
  readonly syncOnly?: true
  readonly listen: number
  readonly callbackUrl?: string
  readonly wait: number
}

async function runCheck(namespace: string | undefined, options: CheckOptions): Promise<void> {
  const { signal } = listenForStop()
  const { identifier, recordType } = options
  const [question, ...others] = await readQuestions({ identifier, ...(recordType !== undefined && { recordType }) })
  if (question === undefined || others.length > 0) throw new CommandError('give one --identifier')
  const query = 'search_criteria' in question ? question.search_criteria : question
  const target = await readRegistryTarget({ ...options, ...(namespace !== undefined && { registry: namespace }) })
  const steps: CheckStepResult[] = []
  const passed = await runSystemCheck(target, {
    query,
    signal,
    wait: options.wait * 1_000,
    subscription: subscriptionToCheck(target, options),
    callbacks: options.syncOnly ? null : readCallbackAddress(options),
    tell: (step) => {
      steps.push(step)
      if (!options.json) process.stdout.write(`${toPrintableLine(stepText(step))}\n`)
    },
  })
  process.stdout.write(
    options.json
      ? `${toPrintableLine(JSON.stringify({ passed, steps }))}\n`
      : `${passed ? 'every step has passed' : 'the check has not passed'}\n`,
  )
  if (!passed) process.exitCode = EXIT_CODES.failed
}

const stepText = ({ name, state, sent, came }: CheckStepResult): string =>
  `${state.padEnd(8)} ${name.padEnd(13)} sent: ${sent}; came: ${came}`

function readCallbackAddress({ listen, callbackUrl }: CheckOptions) {
  const at = { host: '127.0.0.1', port: listen }
  if (callbackUrl === undefined) return { at, sender_uri: undefined }
  return { at, sender_uri: callbacksAt(readAddress('--callback-url', callbackUrl).href) }
}

/**
 * Reads the subscription to make; null without --event. When no record type is known, a namespace such as `civil` or `civil-test`
 * names the kind, and the first record type of this kind is taken.
 */
function subscriptionToCheck({ base_url, record_type: usual }: RegistryTarget, { event, recordType }: CheckOptions) {
  if (event === undefined) return null
  const [, namespace = ''] = base_url.pathname.split('/')
  const kind = KINDS.find(({ name }) => namespace === name || namespace.startsWith(`${name}-`))
  const record_type = recordType ?? usual ?? kind?.record_types[0].emitted
  if (record_type !== undefined) return { event, record_type }
  throw new CommandError('--record-type is missing; name the record type to be notified of')
}
