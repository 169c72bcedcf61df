/** Makes a sandbox participant that has passed its check a live one, with new keys and a new secret. */

import type { Participant } from '@rollcall/core/model/participant'
import type { Database } from '@rollcall/database/database'
import { createLog } from '@rollcall/observe/log'
import { newSecret } from '@rollcall/participants/directory/secrets'
import { createParticipantGuards } from '@rollcall/participants/egress/address-guard'
import { listChecks } from '@rollcall/participants/store/participant-checks'
import { type Promotion, promoteParticipant as promote } from '@rollcall/participants/store/promote-participant'
import { createKeySetFetcher } from '@rollcall/participants/trust/key-sets'
import type { PublicKey } from '@rollcall/protocol'
import { listRegistries } from '@rollcall/records/registries/registries'
import Type from 'typebox'
import { defineAct, withSettingsLocked } from '../act.ts'
import { AdminRefusal } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { suspendUngrantedSubscriptions } from '../grants/subscriptions.ts'
import { closed, SenderId, text } from '../members.ts'
import { addParticipantKeys, readKeys, shownKey } from './keys.ts'
import { ParticipantResult, requireParticipant, shownParticipant } from './participants.ts'
import { checkKeySetAddress } from './policy.ts'

interface PromoteDeps extends HasDatabase {
  readonly now?: () => Date
}

const keyInput = addParticipantKeys.input.properties

/** Days for which a passed check counts for a promotion, because systems change. */
const CHECK_VALID_DAYS = 30

/** The most reports of checks that a promotion reads. */
const MOST_CHECK_REPORTS = 100

/**
 * Makes a sandbox participant live. Its keys, secrets, tokens, grants and settings of callbacks of the sandbox end, and
 * its subscriptions are suspended. It may do nothing until something is granted to it in a live registry.
 */
export const promoteParticipant = defineAct(
  {
    name: 'participant promote',
    approval: {
      when: 'always',
      role: 'own',
      async concerns({ db }: PromoteDeps, { sender_id, jwks_uri = null, keys, kid, use }) {
        const { environment, jwks_uri: before } = await requireParticipant(db, sender_id)
        const added = keys === undefined ? [] : (await readKeys(sender_id, keys, { kid, use })).map(shownKey)
        const stored = { environment, jwks_uri: before }
        return { about: { sender_id }, stored, wanted: { environment: 'live', jwks_uri, keys: added } }
      },
    },
    input: closed({
      sender_id: SenderId,
      keys: Type.Optional(text('Its live public keys, in PEM, a JWK or a JWK set. A private key is refused.')),
      kid: keyInput.kid,
      use: keyInput.use,
      jwks_uri: Type.Optional(text('Address of the key set that it publishes for live registries.')),
    }),
    result: closed({
      ...ParticipantResult.properties,
      client_secret: text('Its live client secret. It is not stored and cannot be shown again.'),
    }),
  },
  async ({ db, now = () => new Date() }: PromoteDeps, { sender_id, jwks_uri = null, ...given }, _, checkDecision) => {
    const participant = await requireParticipant(db, sender_id)
    if (participant.environment !== 'sandbox') throw new AdminRefusal(`${sender_id} is live already`)
    await requirePassedCheck({ db }, participant, new Date(now().getTime() - CHECK_VALID_DAYS * 86_400_000))
    const keys = await readLiveKeys(participant, given)
    if (jwks_uri === null && !keys.some(({ use }) => use === 'sig')) {
      throw new AdminRefusal('keys: a live key for signatures is needed, or jwks_uri')
    }
    if (jwks_uri !== null && jwks_uri === participant.jwks_uri) {
      throw new AdminRefusal('jwks_uri: is that of the sandbox; live keys are published at another address')
    }
    await checkKeySetAddress(participant, jwks_uri)
    const former = await fetchPublishedKeys(participant)
    const { secret: client_secret, sha256 } = newSecret()
    // Fetching the sandbox's key set takes time, so the transaction that writes checks again that the changes are those approved.
    await withSettingsLocked({ db }, async (inner) => {
      await checkDecision(inner)
      await makeParticipantLive(inner, participant, { keys, former, jwks_uri, sha256 })
    })
    return { ...shownParticipant(await requireParticipant(db, sender_id)), client_secret }
  },
)

/** Makes a participant live. @throws StoreRefusal it is not of the sandbox, or a key is refused */
export async function makeParticipantLive(
  db: Database,
  participant: Pick<Participant, 'id' | 'sender_id'>,
  promotion: Promotion,
): Promise<void> {
  const granted = await promote(db, participant, promotion)
  for (const registry of await listRegistries(db)) {
    if (granted.includes(registry.id)) await suspendUngrantedSubscriptions(db, participant, registry)
  }
}

/** Checks that a check since this time was passed. @throws AdminRefusal none was; the message says what is missing */
async function requirePassedCheck({ db }: HasDatabase, participant: Participant, since: Date): Promise<void> {
  const reports = await listChecks(db, participant, MOST_CHECK_REPORTS)
  if (reports.some(({ passed, checked_at }) => passed && checked_at >= since)) return
  const { sender_id } = participant
  const what = `run rollcall participant check ${sender_id} <namespace>`
  const [newest] = reports
  if (newest === undefined) {
    throw new AdminRefusal(`${sender_id} has not been checked; ${what}`, { reason: 'conflict' })
  }
  const missing = newest.steps.filter(({ state }) => state === 'missing').map(({ name }) => name)
  throw new AdminRefusal(
    newest.passed
      ? `the last check that ${sender_id} passed is of ${newest.checked_at.toISOString()}, which is too old; ${what}`
      : `the last check of ${sender_id} in ${newest.namespace} has not passed; missing: ${missing.join(', ')}; ${what}`,
    { reason: 'conflict' },
  )
}

interface GivenKeys {
  readonly keys?: string | undefined
  readonly kid?: string | undefined
  readonly use?: 'sig' | 'enc' | undefined
}

/** Reads and checks the given keys for the live participant; empty if none are given. @throws AdminRefusal, KeyRefused */
async function readLiveKeys({ sender_id }: Participant, { keys, kid, use }: GivenKeys): Promise<readonly PublicKey[]> {
  if (keys === undefined) {
    if (kid === undefined && use === undefined) return []
    throw new AdminRefusal('keys: is required with kid and use')
  }
  return readKeys(sender_id, keys, { kid, use })
}

/**
 * Fetches the keys in the participant's own key set; empty if it has none. They were for the sandbox: after the promotion, live
 * messages signed with them are refused.
 * @throws AdminRefusal the key set cannot be read now
 */
async function fetchPublishedKeys(participant: Participant): Promise<readonly PublicKey[]> {
  if (participant.jwks_uri === null) return []
  const guards = createParticipantGuards()
  try {
    const sets = createKeySetFetcher({ guardOf: guards.of, log: createLog({ level: 'silent' }) })
    const found = await sets.get(participant, null)
    if (found.length > 0) return found
  } finally {
    await guards.close()
  }
  throw new AdminRefusal(
    'the key set of the sandbox cannot be read at its jwks_uri, so its keys cannot be refused for ever; let the participant publish it again, or register its keys with rollcall participant key add and remove the address with rollcall participant policy --jwks-uri none',
    { reason: 'conflict' },
  )
}
