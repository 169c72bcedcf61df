/** `rollcall participant callback`: where and how a participant takes what is sent to it. */
import { AUTHS, changeCallback, parseSchedule } from '@rollcall/admin/callbacks/callbacks'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CredentialOptions, credentialsFrom } from '../callback-credentials.ts'
import { ask } from '../environment.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'

export function addCallbackCommand(participant: Command): void {
  withJson(participant.command('callback'))
    .description('show or change the addresses for answers to a participant; servers use the change within a second')
    .argument('<sender_id>', 'its sender_id')
    .option('--allow <url...>', 'addresses that its requests may name: an origin, with or without a path')
    .option('--disallow <url...>', 'addresses to remove from those')
    .option('--default-url <url>', "address for answers to requests that name none; 'none' for no address")
    .addOption(new Option('--auth <how>', 'how we authenticate to it').choices(AUTHS))
    .option('--origin <origin>', 'origin that gets the credentials (default: that of the default address)')
    .option('--token-file <file>', 'bearer: file with the token; - for standard input')
    .option('--token-url <url>', 'oauth2: address of its token endpoint')
    .option('--client-id <id>', 'oauth2: our client_id there')
    .option('--client-secret-file <file>', 'oauth2: file with our client secret; - for standard input')
    .option('--scope <scope>', 'oauth2: the scope to ask for')
    .option('--cert <file>', 'mtls: the client certificate, PEM')
    .option('--key <file>', 'mtls: its private key, PEM; - for standard input')
    .option('--concurrency <requests>', 'requests at the same time, on one node', wholeNumber(1, 128))
    .option('--rate <requests>', 'requests a second, on one node', wholeNumber(1, 10_000))
    .option('--timeout <milliseconds>', 'time for one attempt', wholeNumber(100, 120_000))
    .option(
      '--schedule <seconds>',
      'seconds between attempts, with commas; default for the schedule of the server',
      readSchedule,
    )
    .option('--notify-url <url>', "address for notifications; 'none' for the one that its subscriptions name")
    .option('--notify-items <items>', 'items in one notification', wholeNumber(1, 1_000))
    .option(
      '--notify-bytes <bytes>',
      'bytes in one notification; one larger item is sent alone',
      wholeNumber(1_024, 67_108_864),
    )
    .addOption(
      new Option(
        '--notify-unlisted <names>',
        'names of events that the published list of a kind does not have',
      ).choices(['send', 'omit']),
    )
    .addHelpText(
      'after',
      `
--allow permits addresses in the requests of the participant. It does not say where answers go that name no address
(--default-url), and it does not permit another port than 443, a private network or plain HTTP: those are permitted for a
host with rollcall participant host allow. rollcall participant test tries the whole way.

Credentials are encrypted at rest, sent to their origin only, and never shown again. See docs/deliveries.md.

Example: rollcall participant callback spmis.example.org --default-url https://spmis.example.org/dci`,
    )
    .action(runCallback)
}

interface CallbackOptions extends OutputOptions, CredentialOptions {
  readonly allow?: readonly string[]
  readonly disallow?: readonly string[]
  readonly defaultUrl?: string
  readonly concurrency?: number
  readonly rate?: number
  readonly timeout?: number
  readonly schedule?: readonly number[] | 'default'
  readonly notifyUrl?: string
  readonly notifyItems?: number
  readonly notifyBytes?: number
  readonly notifyUnlisted?: 'send' | 'omit'
}

function readSchedule(text: string): readonly number[] | 'default' {
  if (text === 'default') return text
  const schedule = parseSchedule(text)
  if (schedule === null)
    throw new InvalidArgumentError('It must be numbers of seconds with commas, such as 60,300,3600, or default.')
  return schedule
}

async function runCallback(sender_id: string, options: CallbackOptions): Promise<void> {
  stopRequest()
  const { allow, disallow, defaultUrl, concurrency, rate, timeout, schedule } = options
  const { notifyUrl, notifyItems, notifyBytes, notifyUnlisted } = options
  const shown = await ask(changeCallback, {
    sender_id,
    allow,
    disallow,
    default_url: defaultUrl === 'none' ? null : defaultUrl,
    concurrency,
    rate,
    timeout_ms: timeout,
    schedule: schedule === 'default' ? null : schedule,
    notify_url: notifyUrl === 'none' ? null : notifyUrl,
    notify_items: notifyItems,
    notify_bytes: notifyBytes,
    notify_unlisted: notifyUnlisted === undefined ? undefined : notifyUnlisted === 'send',
    ...(await credentialsFrom(options)),
  })
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(16)}${shownText(value)}`)
  print(options, shown, lines.join('\n'))
}

function shownText(value: string | number | boolean | readonly (string | number)[] | null): string {
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(' ')
  return String(value ?? '-')
}
