/** The overview: the state of the server and its work in the last 24 hours, on one screen. */

import { countUnwitnessedChains } from '@rollcall/audit/store/checkpoints'
import { type Clock, SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { BREAKER_STATES } from '@rollcall/core/model/breaker'
import { countDeliveries, listOpenBreakers } from '@rollcall/delivery/store/deliveries/delivery-counts'
import { listParticipantsWithClosedMailbox } from '@rollcall/delivery/store/events/closing'
import { listEndingSubscriptions } from '@rollcall/delivery/store/events/ending-subscriptions'
import { outboxHealth } from '@rollcall/delivery/store/events/outbox'
import { countOverdueExchanges } from '@rollcall/engine/store/exchanges/claims'
import { listTrafficHours, sumTraffic, TRAFFIC_HOURS, trafficDurations } from '@rollcall/engine/store/exchanges/traffic'
import type { DatabaseHealth } from '@rollcall/observe/health'
import type { SchemaVersionWatch } from '@rollcall/observe/schema'
import { findGrantsAndKeysEndingSoon } from '@rollcall/participants/store/ends'
import { listOperatorTokens } from '@rollcall/participants/store/operator-tokens'
import { countWaitingProposals } from '@rollcall/participants/store/proposals'
import { oneOf } from '@rollcall/protocol'
import Type from 'typebox'
import { defineAdminFunction } from './admin-function.ts'
import { countUnreviewedEmergencies, MOST_EMERGENCIES_COUNTED } from './audit/list.ts'
import type { HasVault } from './deps.ts'
import { EXPIRING_DAYS } from './grants/health.ts'
import { closed, flag, instant, isoTime, Namespace, orNull, SenderId, text, wholeNumber } from './members.ts'

const DAY_MS = 86_400_000
/** Milliseconds after which a call stops counting the traffic of hours; the newest hour is always counted. */
const MOST_COUNTING_MS = 1_000
/** The most circuit breakers, and the most ending subscriptions, that are listed. */
const MOST_OVERVIEW_ROWS = 100

const Milliseconds = (description: string) =>
  orNull(Type.Number({ description: `Milliseconds that ${description} did not exceed, within 10 percent; null: not measured.` }))

const ANSWER_TIMES_MS = { p50_ms: Milliseconds('half of the answers'), p99_ms: Milliseconds('99 percent of the answers') }

const Traffic = Type.Array(
  closed({
    operation: orNull(text('Name of the operation; null: the request was refused before it named one.')),
    mode: oneOf(['synchronous', 'asynchronous'], { description: 'Answered at once, or later.' }),
    outcomes: Type.Record(Type.String(), Type.Number(), {
      description:
        'Messages by outcome: accepted, succeeded, partial (some items), rejected (every item), refused. An asynchronous request is accepted, and each page of its answer has an outcome of its own.',
    }),
    ...ANSWER_TIMES_MS,
  }),
)

export interface HasDatabaseHealth extends HasVault {
  readonly databaseHealth: Pick<DatabaseHealth, 'breaker' | 'isReady'>
  readonly schema: Pick<SchemaVersionWatch, 'lead'>
  readonly clock?: Pick<Clock, 'now' | 'date'>
}

export const showOverview = defineAdminFunction(
  {
    input: closed({ namespace: Type.Optional(Namespace) }),
    result: closed({
      at: instant('When this was read.'),
      hours: Type.Array(
        closed({
          from: instant('Beginning of the hour.'),
          counted: flag('False: it is not counted yet; a later call counts it.'),
          traffic: Traffic,
        }),
        { description: `The last ${TRAFFIC_HOURS} hours, the newest first; the first one is not over.` },
      ),
      traffic: Type.Unsafe<readonly ReturnType<typeof sumTraffic>[number][]>({
        ...Traffic,
        description: 'Of all hours that are counted.',
      }),
      durations: closed(ANSWER_TIMES_MS, { description: 'Of all operations together, of all hours that are counted.' }),
      deliveries: closed({
        waiting: wholeNumber('To be attempted now or later.'),
        failing: wholeNumber('Of them, those to destinations at which the last attempt failed.'),
        dead: wholeNumber('Given up, and neither replayed nor cancelled since.'),
        held: wholeNumber('Answers that are not attempted, because there is no address.'),
      }),
      breakers: Type.Array(
        closed({
          participant: SenderId,
          origin: text('Of the address that fails.'),
          failures: wholeNumber('Attempts that failed in a row.'),
          opened_at: instant('When it opened.'),
          probe_at: instant('When the next attempt is made.'),
        }),
        { description: `Open circuit breakers for which a delivery waits, the oldest first; ${MOST_OVERVIEW_ROWS} at most.` },
      ),
      expiring: Type.Array(
        closed({
          what: oneOf(['grant', 'key', 'operator token', 'subscription']),
          name: text('sender_id of the participant, or name of the token.'),
          of: text('Namespace of a grant or subscription, use of a key, roles of a token.'),
          id: orNull(text('Code of a subscription.')),
          at: instant('When it ends.'),
        }),
        {
          description: `What ends within ${EXPIRING_DAYS} days and is not followed by another one, the first to end first. Client secrets do not expire.`,
        },
      ),
      health: closed({
        database: oneOf(BREAKER_STATES, { description: 'closed: it is well; open: it declines writes.' }),
        ready: flag('Whether the database answers this node and accepts writes.'),
        schema_ahead: wholeNumber('Migrations of the database that this node does not know.'),
        overdue: wholeNumber('Accepted requests that are due for a minute, and that no node has claimed; of one registry 0.'),
        outbox: closed(
          {
            waiting: wholeNumber('Rows of the outbox that are to be published.'),
            failed: wholeNumber('Rows of the outbox that could not be published.'),
            oldest: Type.Number({ description: 'Seconds for which the oldest waiting row has waited.' }),
          },
          { description: 'Of one registry it is 0.' },
        ),
        closed_mailboxes: Type.Array(SenderId, {
          description:
            'Participants whose notifications, of the registry that is asked for, could not be delivered for too long.',
        }),
        unwitnessed: wholeNumber(
          'Processes that could not give their last checkpoint of a day to the witness; of one registry 0.',
        ),
      }),
      emergencies: wholeNumber(
        `Emergencies that nobody has reviewed; counted up to ${MOST_EMERGENCIES_COUNTED}, at most half a minute ago.`,
      ),
      proposals: wholeNumber('Acts that wait for a second operator; of one registry 0.'),
    }),
  },
  async (deps: HasDatabaseHealth, { namespace }) => {
    const { db, clock = SYSTEM_CLOCK } = deps
    const began = clock.now()
    const now = new Date(clock.date())
    const hours = (await listTrafficHours(db, now, () => clock.now() - began >= MOST_COUNTING_MS)).map(({ from, rows }) => ({
      from: isoTime(from),
      rows: rows?.filter(({ registry }) => namespace === undefined || registry === namespace) ?? null,
    }))
    const counted = hours.flatMap(({ rows }) => rows ?? [])
    return {
      at: isoTime(now),
      hours: hours.map(({ from, rows }) => ({ from, counted: rows !== null, traffic: sumTraffic(rows ?? []) })),
      traffic: sumTraffic(counted),
      durations: trafficDurations(counted),
      deliveries: await countDeliveries(db, namespace ?? null),
      breakers: (await listOpenBreakers(db, namespace ?? null, MOST_OVERVIEW_ROWS)).map((row) => ({
        ...row,
        opened_at: isoTime(row.opened_at),
        probe_at: isoTime(row.probe_at),
      })),
      expiring: await listExpiring(deps, namespace, now),
      health: await readHealth(deps, namespace ?? null),
      emergencies: await countUnreviewedEmergencies(deps, namespace, began),
      proposals: namespace === undefined ? await countWaitingProposals(db, now) : 0,
    }
  },
)

/** Lists what expires soon. For one registry these are its grants and subscriptions. */
async function listExpiring({ db }: HasDatabaseHealth, namespace: string | undefined, now: Date) {
  const ends = (await findGrantsAndKeysEndingSoon(db, EXPIRING_DAYS)).map(({ what, sender_id, of, ends }) => ({
    what,
    name: sender_id,
    of,
    id: null,
    at: isoTime(new Date(ends * 1_000)),
  }))
  const until = now.getTime() + EXPIRING_DAYS * DAY_MS
  const tokens = (await listOperatorTokens(db))
    .filter(({ revoked_at, expires_at: at }) => revoked_at === null && at > now && at.getTime() <= until)
    .map(({ name, roles, expires_at }) => ({
      what: 'operator token' as const,
      name,
      of: roles.join(', '),
      id: null,
      at: isoTime(expires_at),
    }))
  const subscriptions = await listEndingSubscriptions(db, EXPIRING_DAYS, namespace ?? null, MOST_OVERVIEW_ROWS)
  const ofRegistry = ends.filter(({ what, of }) => what === 'grant' && of === namespace)
  return [
    ...(namespace === undefined ? [...ends, ...tokens] : ofRegistry),
    ...subscriptions.map(({ code, participant, namespace: of, end_at }) => ({
      what: 'subscription' as const,
      name: participant,
      of,
      id: code,
      at: isoTime(end_at),
    })),
  ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0))
}

async function readHealth({ db, databaseHealth, schema }: HasDatabaseHealth, namespace: string | null) {
  return {
    database: databaseHealth.breaker(),
    ready: await databaseHealth.isReady(),
    schema_ahead: schema.lead().ahead,
    closed_mailboxes: (await listParticipantsWithClosedMailbox(db, namespace)).map(({ sender_id }) => sender_id),
    ...(namespace === null ? await countBacklogs(db) : NO_BACKLOGS),
  }
}

/** The zeros that the overview of one registry has in place of the numbers of `countBacklogs`. */
const NO_BACKLOGS = { overdue: 0, outbox: { waiting: 0, failed: 0, oldest: 0 }, unwitnessed: 0 }

/**
 * Counts, for all registries together, the overdue exchanges, the rows of the event outbox, and the unwitnessed chains. A chain
 * of the audit log is unwitnessed if its newest checkpoint of the last day says that the copy to the witness failed.
 */
async function countBacklogs(db: HasDatabaseHealth['db']) {
  const { unwitnessed } = await countUnwitnessedChains(db)
  return { overdue: await countOverdueExchanges(db), outbox: await outboxHealth(db), unwitnessed }
}
