/** Participants: who may ask the registries. */

import { nearestNameHint } from '@rollcall/base/shared/message-words'
import { ENVIRONMENTS, type Environment } from '@rollcall/core/model/environment'
import { type Participant, SIGNATURE_POLICIES } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { makeDeliveriesDue } from '@rollcall/delivery/store/events/mailboxes'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { addSecret } from '@rollcall/participants/store/client-secrets'
import { listRegistriesAndParticipants } from '@rollcall/participants/store/demo-data'
import { addGrant, grantEnvironmentProblem } from '@rollcall/participants/store/grants'
import {
  addParticipant as addRow,
  findClient,
  findParticipant,
  listParticipants as listRows,
  setParticipantStatus as setStatus,
} from '@rollcall/participants/store/participants'
import { INT32_MAX, oneOf } from '@rollcall/protocol'
import { requireRegistry } from '@rollcall/records/registries/registries'
import Type, { type Static } from 'typebox'
import { type BaseActDeps, defineAct } from '../act.ts'
import { AdminRefusal, defineAdminFunction } from '../admin-function.ts'
import { auditAct } from '../audit/operator-entries.ts'
import type { HasDatabase } from '../deps.ts'
import { GrantTermsSchema } from '../grants/terms.ts'
import {
  closed,
  flag,
  limitJson,
  Namespace,
  NO_INPUT,
  orNull,
  readLimit,
  SenderId,
  text,
  UNLIMITED,
  wholeNumber,
} from '../members.ts'

const STATUSES = ['active', 'disabled'] as const satisfies readonly Participant['status'][]

export const MaxPageSize = orNull(wholeNumber("Largest page it may ask for, in records; null: the server's limit.", 1, INT32_MAX))
export const RateLimit = Type.Union([
  Type.Number({ exclusiveMinimum: 0, description: 'Requests a second, on all nodes together.' }),
  Type.Literal(UNLIMITED),
  Type.Null({ description: "The server's limit." }),
])
export const ConcurrencyLimit = Type.Union([
  wholeNumber('Requests at a time, on one node.', 1),
  Type.Literal(UNLIMITED),
  Type.Null({ description: "The server's limit." }),
])
const ClientId = text('What it names itself by to get an access token.')
const ClientSecret = text('Its client secret. It is not stored and cannot be shown again.')

const PARTICIPANT_MEMBERS = {
  sender_id: SenderId,
  client_id: ClientId,
  name: text('Its name for people.'),
  status: oneOf(STATUSES, { description: 'Whether its tokens and messages are accepted.' }),
  signature_policy: oneOf(SIGNATURE_POLICIES, { description: 'Whether its messages must be signed.' }),
  max_page_size: MaxPageSize,
  rate_limit: RateLimit,
  concurrency_limit: ConcurrencyLimit,
  environment: oneOf(ENVIRONMENTS, { description: 'It may be granted something in registries of the same environment alone.' }),
  demo: flag('Made for the demo.'),
} as const
export const ParticipantResult = closed(PARTICIPANT_MEMBERS)

/** Adds a participant. Its messages must be signed until its policy says otherwise. */
export const addParticipant = defineAct(
  {
    name: 'participant add',
    approval: {
      when: 'wider',
      role: 'own',
      compare: ({ sender_id, name, environment = 'live', grants = {} }) =>
        Object.keys(grants).length === 0 ? null : { wanted: { sender_id, name, environment, grants } },
    },
    settings: true,
    input: closed({
      sender_id: SenderId,
      name: text('Its name for people, 1 to 255 characters.'),
      max_page_size: Type.Optional(MaxPageSize),
      rate_limit: Type.Optional(RateLimit),
      concurrency_limit: Type.Optional(ConcurrencyLimit),
      environment: Type.Optional(PARTICIPANT_MEMBERS.environment),
      grants: Type.Optional(
        Type.Record(Type.String(), GrantTermsSchema, { description: 'By namespace, what it may do; nothing elsewhere.' }),
      ),
    }),
    result: closed({
      ...PARTICIPANT_MEMBERS,
      client_secret: ClientSecret,
      granted: Type.Array(Namespace, { description: 'Registries in which it has a grant.' }),
    }),
  },
  async (deps: HasDatabase & BaseActDeps, { sender_id, name, environment = 'live', grants = {}, ...limits }) => {
    const { db } = deps
    const checked = await checkGrants(db, environment, grants)
    const acts = checked.map(({ registry }) => ({ note: GRANT_AUDIT_NOTE, registry: registry.namespace }))
    for (const details of acts) await auditAct(deps, details)
    const { secret, sha256 } = newSecret()
    const added = await addRow(db, {
      sender_id,
      name,
      environment,
      max_page_size: limits.max_page_size ?? null,
      rate_limit: readLimit(limits.rate_limit),
      concurrency_limit: readLimit(limits.concurrency_limit),
      demo: await isDemoDatabase(db),
    })
    await addSecret(db, added, sha256)
    for (const { registry, terms } of checked) {
      await addGrant(db, { participant: added, registry }, terms, { replace: true })
    }
    const granted = checked.map(({ registry }) => registry.namespace)
    return { ...shownParticipant(added), client_secret: secret, granted }
  },
)

/** The note of an audit entry for a grant that comes with a new participant. */
const GRANT_AUDIT_NOTE = 'participant add --grant'

/** Checks all given grants, and returns them, before the first is written. */
async function checkGrants(
  db: Database,
  environment: Environment,
  grants: Readonly<Record<string, Static<typeof GrantTermsSchema>>>,
) {
  const { checkTerms } = await import('../grants/check-terms.ts')
  return Promise.all(
    Object.entries(grants).map(async ([namespace, terms]) => {
      const registry = await requireRegistry(db, namespace)
      const problem = grantEnvironmentProblem(environment, registry)
      if (problem !== null) throw new AdminRefusal(`grants.${namespace}: ${problem}`, { at: ['grants', namespace] })
      return { registry, terms: checkTerms(registry, terms, ['grants', namespace]) }
    }),
  )
}

/** Lists all participants, sorted by sender_id. */
export const listParticipants = defineAdminFunction(
  { input: NO_INPUT, result: Type.Array(ParticipantResult) },
  async ({ db }: HasDatabase) => (await listRows(db)).map(shownParticipant),
)

interface StatusChange {
  readonly sender_id: string
  readonly status: Participant['status']
}

/** Disables a participant, or enables it again. Every server applies it within a second. */
export async function setParticipantStatus({ db }: HasDatabase, { sender_id, status }: StatusChange) {
  await requireParticipant(db, sender_id)
  const set = () => setStatus(db, sender_id, status)
  const participant = await (status === 'disabled'
    ? db.journal.write({ kind: 'participant_disabled', participant: sender_id }, set)
    : set())
  // Makes the waiting deliveries due: they can be attempted now.
  if (status === 'active') await makeDeliveriesDue(db, participant.id)
  return shownParticipant(participant)
}

const SENDER_INPUT = closed({ sender_id: SenderId })

/** Disables a participant: nothing from it is accepted. Every server applies it within a second. */
export const disableParticipant = defineAct(
  { name: 'participant disable', approval: 'never', settings: true, input: SENDER_INPUT, result: ParticipantResult },
  (deps: HasDatabase, { sender_id }) => setParticipantStatus(deps, { sender_id, status: 'disabled' }),
)

/** Enables a participant. Its secrets and unexpired tokens are valid again. */
export const enableParticipant = defineAct(
  {
    name: 'participant enable',
    approval: {
      when: 'wider',
      role: 'own',
      stored: async ({ db }: HasDatabase, { sender_id }) => (await requireParticipant(db, sender_id)).status,
      compare: (about, status) => (status === 'active' ? null : { about, stored: { status }, wanted: { status: 'active' } }),
    },
    settings: true,
    input: SENDER_INPUT,
    result: ParticipantResult,
  },
  (deps: HasDatabase, { sender_id }) => setParticipantStatus(deps, { sender_id, status: 'active' }),
)

/** Gives a participant a new client secret; the one before it stays valid until the next rotation. */
export const rotateParticipantSecret = defineAct(
  {
    name: 'participant secret rotate',
    approval: {
      when: 'wider',
      role: 'own',
      // For a participant that need not sign, the secret alone proves who asks.
      stored: async ({ db }: HasDatabase, { sender_id }) => (await requireParticipant(db, sender_id)).signature_policy,
      compare: ({ sender_id }, signature_policy) =>
        signature_policy === 'required' ? null : { about: { sender_id, signature_policy }, wanted: { secret: 'a new one' } },
    },
    settings: true,
    input: SENDER_INPUT,
    result: closed({ sender_id: SenderId, client_id: ClientId, client_secret: ClientSecret }),
  },
  async ({ db }: HasDatabase, { sender_id }) => makeClientSecret(db, sender_id),
)

/** Makes a client secret and stores its digest. At most two are valid then: the new one, and the newest of the earlier ones. */
export async function makeClientSecret(db: Database, sender_id: string) {
  const { secret: client_secret, sha256 } = newSecret()
  const participant = await requireParticipant(db, sender_id)
  await journalEndedSecrets(db, participant, () => addSecret(db, participant, sha256))
  return { sender_id, client_id: participant.client_id, client_secret }
}

/** Runs `commit`, which adds a secret. Writes into the journal the secrets that end then: all stored ones except the newest. */
async function journalEndedSecrets(
  db: Database,
  { sender_id, client_id }: Participant,
  commit: () => Promise<void>,
): Promise<void> {
  const [, ...retired] = (await findClient(db, client_id))?.secrets ?? []
  if (retired.length === 0) return commit()
  const secrets = retired.map((secret) => secret.toString('hex'))
  await db.journal.write({ kind: 'secrets_retired', participant: sender_id, secrets }, commit)
}

/** Finds a participant by its sender_id. @throws AdminRefusal there is none */
export async function requireParticipant(db: Database, sender_id: string): Promise<Participant> {
  const participant = await findParticipant(db, sender_id)
  if (participant !== null) return participant
  const names = (await listRows(db)).map((row) => row.sender_id)
  const hint = nearestNameHint(sender_id, names)
  throw new AdminRefusal(`no participant has sender_id ${sender_id}`, { reason: 'not_found', hint })
}

/** True when the database is that of a demo. Content that is added to it is then marked as demo data too. */
export async function isDemoDatabase(db: Database): Promise<boolean> {
  const { demo } = await listRegistriesAndParticipants(db)
  return demo.length > 0
}

/** A participant as admin functions show it. */
export function shownParticipant(participant: Participant) {
  const { sender_id, client_id, name, status, signature_policy, max_page_size, environment, demo } = participant
  return {
    sender_id,
    client_id,
    name,
    status,
    signature_policy,
    max_page_size,
    rate_limit: limitJson(participant.rate_limit),
    concurrency_limit: limitJson(participant.concurrency_limit),
    environment,
    demo,
  }
}
