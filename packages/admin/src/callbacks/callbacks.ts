/** The addresses and settings for callbacks to a participant. */

import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import type { Participant } from '@rollcall/core/model/participant'
import type { ReadOnly } from '@rollcall/core/model/read-only'
import type { Registry } from '@rollcall/core/model/registry'
import type { Database } from '@rollcall/database/database'
import {
  CALLBACK_AUTH_WAYS,
  createCredentialsFinder,
  type DecryptedCredentials,
  encryptCredentials,
  isClientIdentity,
} from '@rollcall/delivery/delivery/credentials'
import { parseSchedule } from '@rollcall/delivery/delivery/schedule'
import { canBeAllowedEntry, canBeDefaultUrl, isCallableAddress } from '@rollcall/delivery/delivery/targets'
import { tryCallback } from '@rollcall/delivery/delivery/try-callback'
import { makeAddressChangeStatement } from '@rollcall/delivery/store/deliveries/move-deliveries'
import { makeDeliveriesDue } from '@rollcall/delivery/store/events/mailboxes'
import { ADDRESSLESS_EXCHANGES_SQL } from '@rollcall/engine/store/exchanges/exchange-names'
import { ensureAndLoadOwnKeys } from '@rollcall/keys/own-keys'
import { withCurrentMasterKey } from '@rollcall/keys/store/master-keys'
import { createLog } from '@rollcall/observe/log'
import { createCallbackSettingsReader } from '@rollcall/participants/directory/directory'
import { createAddressGuard, createParticipantGuards, type ParticipantGuards } from '@rollcall/participants/egress/address-guard'
import {
  type CallbackAuth,
  type CallbackSettings,
  findCallbackSettings,
  MOST_CALLBACK_CONCURRENCY,
  setCallbackSettings,
} from '@rollcall/participants/store/participant-callbacks'
import { createKeySetFetcher } from '@rollcall/participants/trust/key-sets'
import { createPeerKeys } from '@rollcall/participants/trust/peer-keys'
import { oneOf } from '@rollcall/protocol'
import { listRegistries, requireRegistry } from '@rollcall/records/registries/registries'
import Type, { type Static } from 'typebox'
import { defineAct } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase, HasVault } from '../deps.ts'
import { closed, flag, Namespace, orNull, SenderId, text, wholeNumber } from '../members.ts'
import { requireParticipant } from '../participants/participants.ts'
import { callbackComparison, isWiderCallbackChange } from './callback-comparison.ts'

const SecretText = (description: string) =>
  Type.String({ pattern: '^[\\x21-\\x7e]{1,8192}$', description: `${description}, printable characters without spaces.` })

const CALLBACK_SETTING_MEMBERS = {
  default_url: orNull(text('Address for answers to requests that name none; null: no address.')),
  auth: oneOf(CALLBACK_AUTH_WAYS, { description: 'How we authenticate to it.' }),
  concurrency: wholeNumber('Requests at the same time, on one node.', 1, MOST_CALLBACK_CONCURRENCY),
  rate: wholeNumber('Requests a second, on one node.', 1, 10_000),
  timeout_ms: wholeNumber('Milliseconds for one attempt.', 100, 120_000),
  schedule: orNull(
    Type.Array(Type.Number(), { description: "Seconds from one attempt to the next; null: the server's own schedule." }),
  ),
  notify_url: orNull(text('Address for notifications, whatever its subscriptions name; null: the one that they name.')),
  notify_items: wholeNumber('Items in one notification.', 1, 1_000),
  notify_bytes: wholeNumber('Bytes in one notification; one larger item is sent alone.', 1_024, 67_108_864),
  notify_unlisted: flag("Whether it is sent names of events that its registry's published list does not have."),
} as const

/**
 * The credentials for callbacks, given together with `auth`. They are stored encrypted, and used only for addresses of `origin`;
 * client_id and client_secret go to `token_url`. No answer has them; a second operator sees those that are no secrets.
 */
const CREDENTIALS = {
  origin: text('Origin that gets the credentials (default: that of the default address).'),
  token: SecretText('bearer: the token'),
  token_url: text('oauth2: address of its token endpoint.'),
  client_id: text('oauth2: our client_id there.'),
  client_secret: SecretText('oauth2: our client secret there'),
  scope: text('oauth2: the scope to ask for.'),
  cert: text('mtls: the client certificate, PEM.'),
  key: text('mtls: its private key, PEM.'),
} as const
type CredentialName = keyof typeof CREDENTIALS

const CallbackChangeInput = closed({
  sender_id: SenderId,
  allow: Type.Optional(
    Type.Array(Type.String(), { description: 'Addresses that its requests may name: an origin, with or without a path.' }),
  ),
  disallow: Type.Optional(Type.Array(Type.String(), { description: 'Addresses to remove from those.' })),
  default_url: Type.Optional(CALLBACK_SETTING_MEMBERS.default_url),
  auth: Type.Optional(CALLBACK_SETTING_MEMBERS.auth),
  concurrency: Type.Optional(CALLBACK_SETTING_MEMBERS.concurrency),
  rate: Type.Optional(CALLBACK_SETTING_MEMBERS.rate),
  timeout_ms: Type.Optional(CALLBACK_SETTING_MEMBERS.timeout_ms),
  schedule: Type.Optional(CALLBACK_SETTING_MEMBERS.schedule),
  notify_url: Type.Optional(CALLBACK_SETTING_MEMBERS.notify_url),
  notify_items: Type.Optional(CALLBACK_SETTING_MEMBERS.notify_items),
  notify_bytes: Type.Optional(CALLBACK_SETTING_MEMBERS.notify_bytes),
  notify_unlisted: Type.Optional(CALLBACK_SETTING_MEMBERS.notify_unlisted),
  origin: Type.Optional(CREDENTIALS.origin),
  token: Type.Optional(CREDENTIALS.token),
  token_url: Type.Optional(CREDENTIALS.token_url),
  client_id: Type.Optional(CREDENTIALS.client_id),
  client_secret: Type.Optional(CREDENTIALS.client_secret),
  scope: Type.Optional(CREDENTIALS.scope),
  cert: Type.Optional(CREDENTIALS.cert),
  key: Type.Optional(CREDENTIALS.key),
})
type ChangeInput = ReadOnly<Static<typeof CallbackChangeInput>>

const CALLBACK_RESULT_MEMBERS = {
  allowed: Type.Array(Type.String(), { description: 'Addresses that its requests may name.' }),
  ...CALLBACK_SETTING_MEMBERS,
} as const
export const ShownCallbackSettings = closed(CALLBACK_RESULT_MEMBERS, {
  description: 'Where and how it takes callbacks, without credentials.',
})

/** Reads the callback settings of a participant, without credentials. */
export async function showCallbackSettings({ db }: HasDatabase, { id }: Pick<Participant, 'id'>) {
  const { sealed: _, ...shown } = await findCallbackSettings(db, id)
  return shown
}

/** Changes the given callback settings, if any, and returns all of them without credentials. */
export const changeCallback = defineAct(
  {
    name: 'participant callback',
    approval: {
      when: 'wider',
      role: 'own',
      stored: async ({ db }: HasVault, { sender_id }) => findCallbackSettings(db, (await requireParticipant(db, sender_id)).id),
      compare: ({ sender_id, ...given }, stored) =>
        isWiderCallbackChange(stored, given) ? { about: { sender_id }, ...callbackComparison(stored, given) } : null,
    },
    settings: true,
    input: CallbackChangeInput,
    result: closed({ sender_id: SenderId, ...CALLBACK_RESULT_MEMBERS }),
  },
  async ({ db, vault }: HasVault, { sender_id, ...given }) => {
    const participant = await requireParticipant(db, sender_id)
    const before = await findCallbackSettings(db, participant.id)
    const changes = changesWithoutSecrets(before, given)
    for (const address of [changes.default_url, changes.notify_url]) await checkAddress(participant, address)
    const secrets = callbackCredentialsOf({ ...before, ...changes }, given)
    await writeSettings({ db, vault }, participant.id, changes, secrets)
    // Pending deliveries may succeed under the new settings, so their next attempts become due.
    if (Object.keys(changes).length > 0 || secrets !== undefined) {
      await makeDeliveriesDue(db, participant.id)
    }
    return { sender_id, ...(await showCallbackSettings({ db }, participant)) }
  },
)

/** Writes callback settings. @param secrets null: the stored credentials are removed; undefined: they stay */
async function writeSettings(
  { db, vault }: HasVault,
  participant: number,
  changes: Partial<CallbackSettings>,
  secrets: DecryptedCredentials | null | undefined,
): Promise<void> {
  const set = (all: Partial<CallbackSettings>): Promise<void> =>
    setCallbackSettings(db, participant, all, (default_url) =>
      makeAddressChangeStatement(participant, { default_url, addressless: ADDRESSLESS_EXCHANGES_SQL }),
    )
  if (secrets === undefined) return set(changes)
  if (secrets === null) return set({ ...changes, auth: 'none', sealed: null })
  const openedVault = await vault()
  await withCurrentMasterKey(async () => {
    const sealed = await encryptCredentials(openedVault, participant, secrets)
    await set({ ...changes, auth: secrets.auth, sealed })
  })
}

function changesWithoutSecrets(before: CallbackSettings, given: Omit<ChangeInput, 'sender_id'>): Partial<CallbackSettings> {
  const { allow, disallow, default_url, schedule, notify_url } = given
  if (default_url && !canBeDefaultUrl(default_url)) {
    throw new AdminRefusal('the default address must be http or https without credentials, query and fragment')
  }
  if (notify_url && !isCallableAddress(notify_url)) {
    throw new AdminRefusal('notify_url: must be http or https without credentials and fragment')
  }
  if (schedule && parseSchedule(schedule.join(',')) === null) {
    throw new AdminRefusal('schedule: must be 1 to 100 numbers of seconds, with at most three decimals')
  }
  return {
    ...((allow !== undefined || disallow !== undefined) && {
      allowed: changedAllowList(before.allowed, allow ?? [], disallow ?? []),
    }),
    ...Object.fromEntries(
      SETTINGS_STORED_AS_GIVEN.filter((name) => given[name] !== undefined).map((name) => [name, given[name]]),
    ),
  }
}

/** Names of the callback settings that are stored exactly as given. */
const SETTINGS_STORED_AS_GIVEN = [
  ...(['default_url', 'concurrency', 'rate', 'timeout_ms', 'schedule'] as const),
  ...(['notify_url', 'notify_items', 'notify_bytes', 'notify_unlisted'] as const),
]

function changedAllowList(before: readonly string[], allow: readonly string[], disallow: readonly string[]): readonly string[] {
  for (const entry of allow) {
    if (!canBeAllowedEntry(entry)) {
      throw new AdminRefusal(`${entry} is no http or https address without credentials, query and fragment`)
    }
  }
  for (const entry of disallow) {
    if (!before.includes(entry)) throw new AdminRefusal(`${entry} is not among the allowed addresses`)
  }
  return [...new Set([...before.filter((entry) => !disallow.includes(entry)), ...allow])]
}

/** Checks an address without sending anything, so that the operator learns of an error before the first callback. */
async function checkAddress({ outgoing }: Participant, address: string | null | undefined): Promise<void> {
  if (!address) return
  const guard = createAddressGuard({ allowed: outgoing })
  try {
    guard.read(address)
  } finally {
    await guard.close()
  }
}

export { CALLBACK_AUTH_WAYS, type CallbackAuth, parseSchedule }

/** The credentials that each way of authentication takes; those in `OPTIONAL_CREDENTIALS` may be left out. */
const CREDENTIAL_NAMES_BY_AUTH: Readonly<Record<CallbackAuth, readonly CredentialName[]>> = {
  none: [],
  bearer: ['origin', 'token'],
  oauth2: ['origin', 'token_url', 'client_id', 'client_secret', 'scope'],
  mtls: ['origin', 'cert', 'key'],
}
const OPTIONAL_CREDENTIALS: readonly CredentialName[] = ['origin', 'scope']

/** Returns the credentials to encrypt; null: the stored ones are to be removed; undefined: they stay. @throws AdminRefusal */
export function callbackCredentialsOf(
  addresses: Pick<CallbackSettings, 'allowed' | 'default_url'>,
  given: Pick<ChangeInput, 'auth' | CredentialName>,
): DecryptedCredentials | null | undefined {
  const { auth } = given
  const taken = auth === undefined ? [] : CREDENTIAL_NAMES_BY_AUTH[auth]
  for (const name of Object.keys(CREDENTIALS) as CredentialName[]) {
    if (given[name] === undefined) {
      if (taken.includes(name) && !OPTIONAL_CREDENTIALS.includes(name)) throw new AdminRefusal(`auth ${auth} needs ${name}`)
    } else if (auth === undefined) throw new AdminRefusal(`${name} needs auth`)
    else if (!taken.includes(name)) throw new AdminRefusal(`${name} does not belong to auth ${auth}`)
  }
  if (auth === undefined) return undefined
  if (auth === 'none') return null
  const origin = requireOriginForCredentials(addresses, given.origin)
  const { token = '', cert = '', key = '', token_url = '', client_id = '', client_secret = '', scope = null } = given
  if (auth === 'bearer') return { auth, origin, token }
  if (auth === 'mtls') {
    if (!isClientIdentity({ cert, key })) throw new AdminRefusal('the certificate and the key do not belong together')
    return { auth, origin, cert, key }
  }
  if (!canBeDefaultUrl(token_url)) throw new AdminRefusal('token_url must be an http or https address')
  return { auth, origin, token_url: new URL(token_url).href, client_id, client_secret, scope }
}

function requireOriginForCredentials(
  { default_url, allowed }: Pick<CallbackSettings, 'allowed' | 'default_url'>,
  given: string | undefined,
): string {
  const [only, ...more] = allowed
  const address = given ?? default_url ?? (more.length === 0 ? only : undefined)
  const origin = address === undefined ? undefined : URL.parse(address)?.origin
  if (origin !== undefined && origin !== 'null' && (given === undefined || canBeDefaultUrl(given))) return origin
  throw new AdminRefusal('origin must say whom the credentials are for, such as https://spmis.example.org')
}

/** Sends a signed test message to a participant, and reports how every step went. The message is not stored. */
export const testCallback = defineAct(
  {
    name: 'participant callback test',
    approval: 'never',
    input: closed({
      sender_id: SenderId,
      to: Type.Optional(text('Address to send it to, one that a request could name (default: its default address).')),
      registry: Type.Optional(Namespace),
    }),
    result: closed({
      target: orNull(text('The address that was called, or would have been.')),
      message_id: text('message_id of the test message.'),
      steps: Type.Array(
        closed({
          step: oneOf(['address', 'network', 'credentials', 'tls', 'answer']),
          ok: flag('Whether it went well.'),
          told: text('What was found, in words.'),
        }),
      ),
      ok: flag('The participant was reached and answered as the protocol says.'),
      status: orNull(Type.Integer({ description: 'HTTP status.' })),
      answer: text('At most 256 printable characters of its answer.'),
    }),
  },
  async (deps: HasMessageSigning, { sender_id, to = null, registry }) => {
    const participant = await requireParticipant(deps.db, sender_id)
    const from = await requireTestSenderRegistry(deps.db, participant, registry)
    const guards = createParticipantGuards()
    try {
      return await tryCallback(await attemptDeps(deps, guards), participant, from, to)
    } finally {
      await guards.close()
    }
  },
)

/** Dependencies of functions that sign messages. */
export interface HasMessageSigning extends HasVault {
  /** The namespace that is written into our signatures (ROLLCALL_SIGNATURE_NAMESPACE). */
  readonly signatureNamespaces: { readonly written: string }
}

/** The dependencies of a delivery attempt without a running server: nothing is logged or counted. */
async function attemptDeps({ db, vault, signatureNamespaces }: HasMessageSigning, guards: ParticipantGuards) {
  const log = createLog({ level: 'silent' })
  const opened = await vault()
  return {
    log,
    guards,
    signatureNamespaces,
    clock: SYSTEM_CLOCK,
    callbacks: createCallbackSettingsReader(db),
    credentials: createCredentialsFinder(opened, guards),
    keys: await ensureAndLoadOwnKeys(db, opened, log),
    peerKeys: createPeerKeys(db, { fetchKeySet: createKeySetFetcher({ guardOf: guards.of, log }).get, log }),
    metrics: { deliveryAttempted: () => undefined },
  }
}

async function requireTestSenderRegistry(
  db: Database,
  { environment }: Pick<Participant, 'environment'>,
  namespace: string | undefined,
): Promise<Registry> {
  if (namespace !== undefined) return requireRegistry(db, namespace)
  const found = (await listRegistries(db)).find((row) => row.environment === environment)
  if (found) return found
  throw new AdminRefusal(`there is no ${environment} registry to send the message from; add one first`)
}
