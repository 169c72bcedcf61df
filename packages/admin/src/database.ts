/** The database as a whole: makes or upgrades its tables, and examines it. */

import { countUnwitnessedChains, NO_UNWITNESSED_CHAINS } from '@rollcall/audit/store/checkpoints'
import { refuseUnloadedDatabase } from '@rollcall/backup/store/restorations'
import type { AllowedHost } from '@rollcall/core/model/allowed-hosts'
import { PROPOSAL_DECIDING_ROLES } from '@rollcall/core/model/operator'
import type { Participant } from '@rollcall/core/model/participant'
import { type Database, migrate, pendingMigrations } from '@rollcall/database/database'
import { listJournalReports, MOST_REPORT_AGE_MINUTES } from '@rollcall/database/journal-reports'
import { readPostgresSettings } from '@rollcall/database/migrate'
import { readDatabaseRoleFacts } from '@rollcall/database/roles'
import { listParticipantsWithHeldDeliveries } from '@rollcall/delivery/store/deliveries/delivery-counts'
import { listParticipantsWithClosedMailbox } from '@rollcall/delivery/store/events/closing'
import { outboxHealth } from '@rollcall/delivery/store/events/outbox'
import { countOverdueExchanges } from '@rollcall/engine/store/exchanges/claims'
import { listRegistriesAndParticipants } from '@rollcall/participants/store/demo-data'
import { listOperatorTokens } from '@rollcall/participants/store/operator-tokens'
import { listCurrentAndFutureKeys, type ParticipantKey } from '@rollcall/participants/store/participant-keys'
import { listParticipants, listParticipantsWithoutSecret } from '@rollcall/participants/store/participants'
import { planIndexes } from '@rollcall/records/records/index-plan'
import { ensureRecordTables } from '@rollcall/records/records/record-tables'
import { listRegistries, readRegistries } from '@rollcall/records/registries/registries'
import { readMirrorsHealth } from '@rollcall/source/store/mirrors'
import Type from 'typebox'
import { defineAdminFunction } from './admin-function.ts'
import type { HasDatabase, HasOwner } from './deps.ts'
import { EXPIRING_DAYS, findGrantWeaknesses } from './grants/health.ts'
import { closed, flag, Namespace, NO_INPUT, orNull, SenderId, text, wholeNumber } from './members.ts'

const NameList = (description: string) => Type.Array(Type.String(), { description })

/** Makes the tables, or upgrades them to this version, those of the registries included. */
export const migrateDatabase = defineAdminFunction(
  {
    input: NO_INPUT,
    result: closed({
      migrations: NameList('Migrations that ran.'),
      registries: wholeNumber('How many registries there are.'),
      to_fill: NameList('Namespaces of registries whose records are to be read anew.'),
    }),
  },
  async ({ db, owner = db }: HasOwner) => {
    await refuseUnloadedDatabase(owner)
    const migrations = await migrate(owner, db)
    for (const registry of await listRegistries(db)) await ensureRecordTables(db, registry)
    const registries = await listRegistries(db)
    const to_fill = registries.filter(({ unfilled }) => unfilled.size > 0).map(({ namespace }) => namespace)
    return { migrations, registries: registries.length, to_fill }
  },
)

const ParticipantList = (description: string) => Type.Array(closed({ sender_id: SenderId }), { description })

/**
 * Reads the facts that `rollcall doctor` checks, and changes nothing. The database may lack tables or migrations.
 * @throws AdminRefusal Rollcall cannot use the database: for example PostgreSQL is too old, or the encoding is not UTF8
 */
export const examineDatabase = defineAdminFunction(
  {
    input: NO_INPUT,
    result: closed({
      settings: closed({
        version: text('Of PostgreSQL.'),
        encoding: text('Of the database.'),
        fsync: text('A setting of PostgreSQL.'),
        full_page_writes: text('A setting of PostgreSQL.'),
        synchronous_commit: text('A setting of PostgreSQL.'),
      }),
      roles: closed({
        database: text('Name of the database.'),
        schema: text('Schema of the tables.'),
        application: text('Role of DATABASE_URL.'),
        superuser: flag('Whether that role is a superuser.'),
        separate: flag('Whether that role cannot change the audit log.'),
      }),
      content: closed({ demo: NameList('Entries of a demo.'), real: NameList('Other entries.') }),
      pending: NameList('Migrations that have not run.'),
      disabled: ParticipantList('Disabled participants.'),
      unreadable: Type.Array(closed({ id: Type.Integer(), namespace: Namespace, error: text('Name of the error.') }), {
        description: 'Registries that this version cannot read.',
      }),
      overdue: Type.Integer({ description: 'Accepted requests that are due for a minute, and that no node has claimed.' }),
      withClosedMailbox: ParticipantList(
        'Those whose notifications could not be delivered for so long that a mailbox was closed.',
      ),
      withHeldDeliveries: ParticipantList('Those for whom answers are held: no address for callbacks is known.'),
      outbox: closed({
        waiting: wholeNumber('Rows of the outbox that are to be published.'),
        failed: wholeNumber('Rows of the outbox that could not be published.'),
        oldest: Type.Number({ description: 'Seconds for which the oldest waiting row has waited.' }),
      }),
      mirrors: Type.Array(
        closed({
          namespace: Namespace,
          lag: orNull(Type.Number({ description: 'Seconds for which changes of the source may be missing.' })),
          behind: wholeNumber('Rows that are known to have changed and are not written yet.'),
          rejects: wholeNumber('Rows of the source that are no record.'),
          failure: orNull(text('Why it cannot be followed now.')),
        }),
        { description: 'The copies of sources.' },
      ),
      journals: Type.Array(
        closed({
          machine: text('Name of the machine of a node.'),
          path: text('The file on that machine.'),
          problem: orNull(text('Why the node cannot write it; null: it can.')),
        }),
        { description: `What nodes have said of their journals within ${MOST_REPORT_AGE_MINUTES} minutes.` },
      ),
      unwitnessed: wholeNumber('Processes whose newest checkpoint of a day says that the witness failed.'),
      unwitnessedEntries: wholeNumber('Their audit entries that no witness is known to have.'),
      operators: wholeNumber('Names with a live token that may decide about proposals.'),
      withoutSecret: ParticipantList('Those that cannot get a token: none of their secrets is live.'),
      unsigned: ParticipantList('Active ones from whom unsigned messages are accepted.'),
      withoutSignatureKey: ParticipantList('Active ones that must sign, and have no key for it.'),
      grants: closed({
        weak: Type.Array(closed({ sender_id: SenderId, namespace: Namespace }), {
          description: 'Those that ask and show everything of every record, without a consent.',
        }),
        expiring: Type.Array(closed({ sender_id: SenderId, namespace: Namespace, valid_until: text('When it ends.') }), {
          description: `Those that end within ${EXPIRING_DAYS} days.`,
        }),
        without: ParticipantList('Active ones that have no grant, and no later one.'),
      }),
      indexes: Type.Array(
        closed({
          namespace: Namespace,
          unfilled: NameList('Attributes and compounds whose columns are to be filled.'),
          missing: NameList('Attributes and compounds whose declared index is not there.'),
        }),
      ),
      plainHttp: Type.Array(closed({ sender_id: SenderId, hosts: NameList('Hosts that may be reached so.') }), {
        description: 'Active ones to whom messages may go without TLS.',
      }),
    }),
  },
  async ({ db }: HasDatabase) => {
    const settings = await readPostgresSettings(db)
    const roles = await readDatabaseRoleFacts(db)
    const pending = await pendingMigrations(db)
    const content = await listRegistriesAndParticipants(db)
    // Details are not read while migrations are pending, or when the database has no registries and no participants.
    const empty = pending.length > 0 || content.demo.length + content.real.length === 0
    const [participants, withoutSecret, keys] = empty
      ? [[], [], []]
      : await Promise.all([listParticipants(db), listParticipantsWithoutSecret(db), listCurrentAndFutureKeys(db)])
    const { registries, unreadable } = empty ? { registries: [], unreadable: [] } : await readRegistries(db)
    const plans = await Promise.all(registries.map((registry) => planIndexes(db, registry)))
    const disabled = participants.filter(({ status }) => status === 'disabled')
    const active = participants.filter(({ status }) => status === 'active')
    return {
      settings,
      roles,
      content,
      pending,
      disabled: senderIds(disabled),
      unreadable: unreadable.map(({ error, ...registry }) => ({ ...registry, error: errorName(error) })),
      overdue: pending.length > 0 ? 0 : await countOverdueExchanges(db),
      withClosedMailbox: pending.length > 0 ? [] : await listParticipantsWithClosedMailbox(db),
      withHeldDeliveries: pending.length > 0 ? [] : await listParticipantsWithHeldDeliveries(db),
      outbox: pending.length > 0 ? { waiting: 0, failed: 0, oldest: 0 } : await outboxHealth(db),
      mirrors: pending.length > 0 ? [] : [...(await readMirrorsHealth(db))],
      journals: pending.length > 0 ? [] : await listJournalReports(db),
      ...(pending.length > 0 ? NO_UNWITNESSED_CHAINS : await countUnwitnessedChains(db)),
      operators: pending.length > 0 ? 0 : await countProposalDeciders(db),
      withoutSecret: senderIds(withoutSecret),
      unsigned: senderIds(active.filter(({ signature_policy }) => signature_policy !== 'required')),
      withoutSignatureKey: senderIds(
        active.filter((participant) => participant.signature_policy === 'required' && !hasSignatureKey(participant, keys)),
      ),
      grants: empty ? { weak: [], expiring: [], without: [] } : await findGrantWeaknesses(db, active),
      indexes: plans
        .flat()
        .map(({ namespace, unfilled, missing }) => ({ namespace, unfilled, missing: missing.map(({ of }) => of) })),
      plainHttp: active
        .map(({ sender_id, outgoing }) => ({ sender_id, hosts: plainHttpHosts(outgoing) }))
        .filter(({ hosts }) => hosts.length > 0),
    }
  },
)

/** Counts the operators who have a valid token for decisions about proposals. Tokens with the same name count as one operator. */
async function countProposalDeciders(db: Database, now = Date.now()): Promise<number> {
  const deciding = (await listOperatorTokens(db)).filter(
    ({ roles, registries, authority, revoked_at, expires_at }) =>
      roles.some((role) => PROPOSAL_DECIDING_ROLES.has(role)) &&
      registries === null &&
      authority === null &&
      revoked_at === null &&
      expires_at.getTime() > now,
  )
  return new Set(deciding.map(({ name }) => name)).size
}

const senderIds = (participants: readonly Participant[]) => participants.map(({ sender_id }) => ({ sender_id }))
const errorName = (error: unknown): string => (error instanceof Error ? error.name : typeof error)

/** True when a participant has a key that is valid now for its signature profile, or a key set, which is not fetched here. */
function hasSignatureKey(
  { id, jwks_uri, signature_profile }: Participant,
  keys: readonly ParticipantKey[],
  now = Date.now(),
): boolean {
  const algorithms: readonly string[] = signature_profile.algorithms
  return (
    jwks_uri !== null ||
    keys.some(
      ({ participant, use, algorithm, valid_from }) =>
        participant === id && use === 'sig' && algorithms.includes(algorithm) && valid_from.getTime() <= now,
    )
  )
}

const plainHttpHosts = (rows: readonly AllowedHost[]): string[] =>
  rows.filter(({ plainHttp }) => plainHttp === true).map(({ host }) => host)
