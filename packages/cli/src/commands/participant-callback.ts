/** `rollcall participant callback`: where and how a participant takes what is sent to it. */
import {
  AUTHS,
  type CallbackAuth,
  type CallbackSettings,
  createAddressGuard,
  ensureDrain,
  findCallbackSettings,
  isAllowedEntry,
  isDefaultUrl,
  openVault,
  type Participant,
  parseSchedule,
  sealCredentials,
  setCallbackSettings,
  withCurrentMasterKey,
} from '@rollcall/server'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { type CredentialOptions, credentialsFor } from '../callback-credentials.ts'
import { withDatabase } from '../environment.ts'
import { CommandError } from '../failure.ts'
import { type OutputOptions, print, withJson } from '../output.ts'
import { participantNamed } from '../participants.ts'
import { stopRequest } from '../stop.ts'
import { wholeNumber } from '../values.ts'

export function addCallbackCommand(participant: Command): void {
  withJson(participant.command('callback'))
    .description('show or change the addresses for answers to a participant; servers follow within a second')
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
    .addHelpText(
      'after',
      `
Credentials are sealed, are sent to their origin only, and never shown again. See docs/deliveries.md.

Example: rollcall participant callback spmis.example.org --default-url https://spmis.example.org/dci`,
    )
    .action(runCallback)
}

interface CallbackOptions extends OutputOptions, CredentialOptions {
  readonly allow?: readonly string[]
  readonly disallow?: readonly string[]
  readonly defaultUrl?: string
  readonly auth?: CallbackAuth
  readonly concurrency?: number
  readonly rate?: number
  readonly timeout?: number
  readonly schedule?: readonly number[] | 'default'
}

function readSchedule(text: string): readonly number[] | 'default' {
  if (text === 'default') return text
  const schedule = parseSchedule(text)
  if (schedule === null)
    throw new InvalidArgumentError(
      'It must be numbers of seconds with commas, such as 60,300,3600, or default.',
    )
  return schedule
}

async function runCallback(sender_id: string, options: CallbackOptions): Promise<void> {
  stopRequest()
  const settings = await withDatabase(async ({ db, config }) => {
    const participant = await participantNamed(db, sender_id)
    const before = await findCallbackSettings(db, participant.id)
    const changes = plainChanges(before, options)
    await checkAddress(participant, changes.default_url)
    const secrets = await credentialsFor({ ...before, ...changes }, options)
    if (secrets === undefined) await setCallbackSettings(db, participant.id, changes)
    else if (secrets === null) {
      await setCallbackSettings(db, participant.id, { ...changes, auth: 'none', sealed: null })
    } else {
      const vault = await openVault(config, db)
      await withCurrentMasterKey(async () => {
        const sealed = await sealCredentials(vault, participant.id, secrets)
        await setCallbackSettings(db, participant.id, { ...changes, auth: secrets.auth, sealed })
      })
    }
    // What failed for a reason of before may go now.
    if (Object.keys(changes).length > 0 || secrets !== undefined) await ensureDrain(db, participant.id)
    return findCallbackSettings(db, participant.id)
  })
  const shown = describe(sender_id, settings)
  const lines = Object.entries(shown).map(([name, value]) => `${name.padEnd(14)}${shownText(value)}`)
  print(options, shown, lines.join('\n'))
}

function plainChanges(before: CallbackSettings, options: CallbackOptions): Partial<CallbackSettings> {
  const { allow, disallow, defaultUrl, concurrency, rate, timeout, schedule } = options
  return {
    ...((allow !== undefined || disallow !== undefined) && {
      allowed: allowedAfter(before.allowed, allow ?? [], disallow ?? []),
    }),
    ...(defaultUrl !== undefined && { default_url: readDefault(defaultUrl) }),
    ...(concurrency !== undefined && { concurrency }),
    ...(rate !== undefined && { rate }),
    ...(timeout !== undefined && { timeout_ms: timeout }),
    ...(schedule !== undefined && { schedule: schedule === 'default' ? null : schedule }),
  }
}

function allowedAfter(
  before: readonly string[],
  allow: readonly string[],
  disallow: readonly string[],
): readonly string[] {
  for (const entry of allow) {
    if (!isAllowedEntry(entry)) {
      throw new CommandError(`${entry} is no http or https address without credentials, query and fragment`)
    }
  }
  for (const entry of disallow) {
    if (!before.includes(entry)) throw new CommandError(`${entry} is not among the allowed addresses`)
  }
  return [...new Set([...before.filter((entry) => !disallow.includes(entry)), ...allow])]
}

function readDefault(text: string): string | null {
  if (text === 'none') return null
  if (isDefaultUrl(text)) return text
  throw new CommandError('the default address must be http or https without credentials, query and fragment')
}

/** Nothing is sent; whether it may be is better known now than with the first answer. */
async function checkAddress(
  { outgoing }: Participant,
  default_url: string | null | undefined,
): Promise<void> {
  if (!default_url) return
  const guard = createAddressGuard({ allowed: outgoing })
  try {
    guard.read(default_url)
  } finally {
    await guard.close()
  }
}

function describe(sender_id: string, settings: CallbackSettings) {
  const { allowed, default_url, auth, concurrency, rate, timeout_ms, schedule } = settings
  return { sender_id, allowed, default_url, auth, concurrency, rate, timeout_ms, schedule }
}

function shownText(value: string | number | readonly (string | number)[] | null): string {
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.join(' ')
  return String(value ?? '-')
}
