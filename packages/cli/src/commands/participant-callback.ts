/** `rollcall participant callback`: sets the callback addresses of a participant, and how we authenticate there. */
import { changeCallback, parseSchedule } from '@rollcall/admin/callbacks/callbacks'
import { InvalidArgumentError } from 'commander'
import { adminCommand } from '../admin-command.ts'
import { readCredentialOptions } from '../callback-credentials.ts'

export const { defineCommand } = adminCommand(async () => changeCallback, {
  args: 'sender_id',
  options: {
    allow: { flags: '--allow <url...>', help: 'addresses that its requests may name: an origin, with or without a path' },
    disallow: { flags: '--disallow <url...>', help: 'addresses to remove from those' },
    default_url: { help: "address for answers to requests that name none; 'none' for no address" },
    auth: { help: 'how we authenticate to it' },
    origin: { help: 'origin that gets the credentials (default: that of the default address)' },
    token: { flags: '--token-file <file>', help: 'bearer: file with the token; - for standard input' },
    token_url: { help: 'oauth2: address of its token endpoint' },
    client_id: { help: 'oauth2: our client_id there' },
    client_secret: { flags: '--client-secret-file <file>', help: 'oauth2: file with our client secret; - for standard input' },
    scope: { help: 'oauth2: the scope to ask for' },
    cert: { flags: '--cert <file>', help: 'mtls: the client certificate, PEM' },
    key: { flags: '--key <file>', help: 'mtls: its private key, PEM; - for standard input' },
    concurrency: { help: 'requests at the same time, on one node' },
    rate: { help: 'requests a second, on one node' },
    timeout_ms: { flags: '--timeout <milliseconds>', help: 'time for one attempt' },
    schedule: {
      flags: '--schedule <seconds>',
      help: 'seconds between attempts, with commas; default for the schedule of the server',
      read: readAttemptSchedule,
    },
    notify_url: { help: "address for notifications; 'none' for the one that its subscriptions name" },
    notify_items: { help: 'items in one notification' },
    notify_bytes: { help: 'bytes in one notification; one larger item is sent alone' },
    notify_unlisted: {
      flags: '--notify-unlisted <names>',
      help: 'names of events that the published list of a kind does not have',
      words: ['send', 'omit'],
    },
  },
  notes: `
--allow permits addresses in the requests of the participant. It does not say where answers go that name no address
(--default-url), and it does not permit another port than 443, a private network or plain HTTP: those are permitted for a
host with rollcall participant host allow. rollcall participant test tries the whole way.

Credentials are encrypted at rest, sent to their origin only, and never shown again. See docs/deliveries.md.`,
  examples: ['spmis.example.org --default-url https://spmis.example.org/dci'],
  input: ({ token, token_url, client_id, client_secret, ...given }) =>
    readCredentialOptions({
      ...given,
      tokenFile: token,
      tokenUrl: token_url,
      clientId: client_id,
      clientSecretFile: client_secret,
    }),
})

/** Reads the seconds between attempts; null for `default`: the schedule of the server applies. */
function readAttemptSchedule(text: string): readonly number[] | null {
  if (text === 'default') return null
  const schedule = parseSchedule(text)
  if (schedule !== null) return schedule
  throw new InvalidArgumentError('It must be numbers of seconds with commas, such as 60,300,3600, or default.')
}
