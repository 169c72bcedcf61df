/** `rollcall participant check|show|promote`: from a sandbox participant to a live one. */
import { setTimeout as sleep } from 'node:timers/promises'
import { checkParticipant } from '@rollcall/admin/participants/check'
import { promoteParticipant } from '@rollcall/admin/participants/promote'
import { showParticipant } from '@rollcall/admin/participants/show'
import { type Command, Option } from 'commander'
import { withDatabase } from '../environment.ts'
import { EXIT } from '../failure.ts'
import { readInput } from '../input.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { trialRecords } from '../synthetic-people.ts'
import { instant, wholeNumber } from '../values.ts'

/** Milliseconds from one look to the next. */
const PAUSE = 1_000

const A_DAY = 86_400_000

export function addCheckCommands(participant: Command): void {
  withJson(participant.command('check'))
    .description('check what the system of a sandbox participant has done, step by step, and store the report')
    .argument('<sender_id>', 'its sender_id')
    .argument('<namespace>', 'namespace of a sandbox registry in which it has a grant')
    .option('--since <time>', 'what it did at this time or later counts (default: a day ago)', instant)
    .option(
      '--wait <seconds>',
      'look again every second, so long or until every step has passed (default: look once)',
      wholeNumber(0, 86_400),
      0,
    )
    .addHelpText(
      'after',
      `
Nobody but the participant has its private key. So its own system sends the requests, to a server that runs, and this
command reads from the server's records which of them were verified and answered, and which callbacks were acknowledged.
While the participant's system is at work, the command sends a test notification to its live subscription, and sends a
callback that was acknowledged once more under the same message_id. docs/sandbox.md lists the steps. A step whose
operation is not granted is skipped.

Exit codes: 0 every step has passed, 3 a step is missing.

Example: rollcall participant check new.example.org civil-test --wait 5`,
    )
    .action((sender_id: string, namespace: string, options: CheckOptions) =>
      runCheck({ sender_id, namespace }, options),
    )
  withJson(participant.command('show'))
    .description('show a participant, with the reports of its checks')
    .argument('<sender_id>', 'its sender_id')
    .addHelpText('after', '\nExample: rollcall participant show spmis.example.org')
    .action(runShow)
  withJson(participant.command('promote'))
    .description('make a sandbox participant live after its check, with new keys and a new secret')
    .argument('<sender_id>', 'its sender_id')
    .option('--key <file>', 'its live public keys: PEM, a JWK or a JWK set; - for standard input')
    .option('--kid <kid>', "kid of the key (default: the JWK's kid, else its RFC 7638 thumbprint)")
    .addOption(new Option('--use <use>', "sig or enc (default: the JWK's use)").choices(['sig', 'enc']))
    .option('--jwks-uri <address>', 'where it publishes its live keys; not the address of the sandbox')
    .addHelpText(
      'after',
      `
It needs a report of rollcall participant check that passed in the last days (ROLLCALL_CHECK_DAYS). Everything that the
participant had in the sandbox ends: within a second no server accepts its keys, secrets and tokens. Its grants, its
subscriptions and its callback settings end as well. It may do nothing until rollcall grant set grants it something in a
live registry.

Example: rollcall participant promote new.example.org --key live-key.pem --kid sig-live`,
    )
    .action(runPromote)
}

interface CheckOptions extends OutputOptions {
  readonly since?: Date
  readonly wait: number
}

type Report = Awaited<ReturnType<typeof checkParticipant>>

interface Checked {
  readonly sender_id: string
  readonly namespace: string
}

async function runCheck({ sender_id, namespace }: Checked, options: CheckOptions): Promise<void> {
  const { signal } = stopRequest()
  const begun = Date.now()
  const since = (options.since ?? new Date(begun - A_DAY)).toISOString()
  const report = await withDatabase(async ({ db }) => {
    for (;;) {
      const found = await checkParticipant({ db, samples: trialRecords }, { sender_id, namespace, since })
      const isOver = Date.now() - begun >= options.wait * 1_000
      if (found.passed || isOver || signal.aborted) return found
      await sleep(PAUSE, undefined, { signal }).catch(() => undefined)
    }
  })
  print(options, report, reportText(report))
  if (!report.passed) process.exitCode = EXIT.some_rejected
}

const reportText = ({ passed, steps }: Pick<Report, 'passed' | 'steps'>): string =>
  [
    ...steps.map(({ name, state, text }) => `${state.padEnd(8)} ${name.padEnd(13)} ${text}`),
    passed ? 'every step has passed' : 'the check has not passed',
  ].join('\n')

async function runShow(sender_id: string, options: OutputOptions): Promise<void> {
  stopRequest()
  const shown = await withDatabase(({ db, config: { limits } }) => showParticipant({ db, limits }, { sender_id }))
  const { checks, keys, secrets, grants, subscriptions, ...participant } = shown
  const counts = {
    keys: keys.filter(({ state }) => state === 'live').length,
    secrets: secrets.filter(({ live }) => live).length,
    grants: [...new Set(grants.map(({ namespace }) => namespace))].join(', '),
    subscriptions: subscriptions.live + subscriptions.suspended,
  }
  const facts = Object.entries({ ...participant, ...counts })
  const lines = facts.flatMap(([name, value]) =>
    typeof value === 'object' && value !== null ? [] : [`${name.padEnd(18)}${value === '' ? '-' : (value ?? '-')}`],
  )
  const reports = checks.flatMap(({ namespace, checked_at, version, ...report }) => [
    '',
    `check in ${namespace} at ${checked_at} by version ${version}`,
    reportText(report),
  ])
  print(options, shown, [...lines, ...reports].join('\n'))
}

interface PromoteOptions extends OutputOptions {
  readonly key?: string
  readonly kid?: string
  readonly use?: 'sig' | 'enc'
  readonly jwksUri?: string
}

async function runPromote(sender_id: string, options: PromoteOptions): Promise<void> {
  stopRequest()
  const { key, kid, use, jwksUri: jwks_uri } = options
  const keys = key === undefined ? undefined : await readInput(key)
  const promoted = await withDatabase(({ config: { limits }, ...needs }) =>
    promoteParticipant({ ...needs, limits }, { sender_id, keys, kid, use, jwks_uri }),
  )
  const text = [
    `${sender_id} is live; what it had in the sandbox has ended`,
    `client_id      ${promoted.client_id}`,
    `client_secret  ${promoted.client_secret}`,
    'The secret is not stored and cannot be shown again.',
    `Nothing is granted yet: rollcall grant set ${sender_id} <namespace> grants something in a live registry,`,
    `and rollcall participant callback ${sender_id} sets its live callback addresses.`,
  ].join('\n')
  print(options, promoted, text)
}
