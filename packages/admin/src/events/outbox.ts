/** The outbox, in which existing systems INSERT events: publishes its rows, and shows them to operators. */

import type { LoopWake } from '@rollcall/base/shared/wake'
import {
  isStatementTimeout,
  isTransactionConflict,
  isUnavailable,
  isValueRefusal,
  safeDatabaseError,
  sqlStateOrSystemCode,
} from '@rollcall/database/database-errors'
import { runInSavepoint, withTransaction } from '@rollcall/database/transaction'
import {
  type FailedOutboxRow,
  failOutboxRow,
  isOutboxWaiting,
  listFailedRows,
  noteOutboxTimeout,
  type OutboxRow,
  outboxHealth,
  readOutboxRow,
  removeOutboxRow,
  retryOutbox as retryRows,
  takeOutboxRow,
} from '@rollcall/delivery/store/events/outbox'
import { isMemberName } from '@rollcall/import/record-paths'
import { MAX_ENTRY_BYTES } from '@rollcall/import/source'
import type { Log } from '@rollcall/observe/log'
import { JsonError, type JsonObject, type JsonValue, KINDS, parseJson } from '@rollcall/protocol'
import type { ClientBase } from 'pg'
import Type, { type Static } from 'typebox'
import { type BaseActDeps, defineAct, NO_APPROVAL_NEEDED } from '../act.ts'
import { AdminRefusal, defineAdminFunction, type InputWithUndefined } from '../admin-function.ts'
import type { HasDatabase } from '../deps.ts'
import { closed, instant, isoTime, orNull, text, wholeNumber } from '../members.ts'
import { type PublishDeps, publishEvent } from './publish.ts'

type OutboxDeps = PublishDeps &
  Pick<BaseActDeps, 'auditLog'> & { readonly log: Pick<Log, 'warn' | 'error'>; readonly outboxWake: Pick<LoopWake, 'raise'> }

/**
 * Publishes the waiting rows, each in a transaction of its own that also deletes the row. A row that cannot be published is put
 * aside with the reason, and the next row follows. A row that takes too long, or whose columns are removed meanwhile, is tried
 * again at the next poll. After `MOST_ROW_ATTEMPTS` such attempts it is put aside too.
 * @throws the error of the database
 */
export async function publishOutbox(deps: OutboxDeps, signal: AbortSignal): Promise<void> {
  if (!(await isOutboxWaiting(deps.db.pool))) return
  for (let more = true; more && !signal.aborted; ) more = await publishNextRow(deps)
  // A row may have come just when another node ended its publishing: poll again.
  deps.outboxWake.raise(NEXT_POLL_MS)
}

/** The caller that publishes rows. Nobody knows who inserted a row: rights in the database decide who may insert rows. */
const OUTBOX_CALLER = { kind: 'server', component: 'outbox' } as const

/** Milliseconds to the next poll, when the last one found waiting rows. */
const NEXT_POLL_MS = 200

/** The number of attempts after which a row is put aside that takes too long, or whose columns are gone. */
const MOST_ROW_ATTEMPTS = 10

/**
 * Publishes the next row.
 * @returns true: the row was published or put aside; false: nothing waits, another node publishes, or the row is tried again at
 * the next poll
 */
async function publishNextRow(deps: OutboxDeps): Promise<boolean> {
  return withTransaction(deps.db.pool, async (client) => {
    const id = await takeOutboxRow(client)
    if (id === null) return false
    try {
      const row = await runInSavepoint(client, () => readTakenRow(client, id))
      const transaction: PublishDeps['transaction'] = (work) => runInSavepoint(client, () => work(client))
      await publishEvent({ ...deps, transaction, caller: OUTBOX_CALLER, approvals: NO_APPROVAL_NEEDED }, eventOfRow(row))
      await removeOutboxRow(client, id)
    } catch (error) {
      if (isStatementTimeout(error) || isMissingColumnOrTable(error)) {
        const timeouts = await noteOutboxTimeout(client, id)
        deps.log.warn({ id, timeouts, ...safeDatabaseError(error) }, 'a row of the outbox is tried again')
        if (timeouts < MOST_ROW_ATTEMPTS) return false
        // The cause is not the row, but an unavailable database or a conflict: the row is tried again.
      } else if (isUnavailable(error) || isTransactionConflict(error)) throw error
      const failure = failureReason(error)
      await failOutboxRow(client, id, failure)
      const place = { id, failure }
      if (error instanceof AdminRefusal) deps.log.warn(place, 'a row of the outbox cannot be published')
      else deps.log.error({ ...place, ...safeDatabaseError(error) }, 'a row of the outbox failed')
    }
    return true
  })
}

/** Reads the row that `takeOutboxRow` has locked. @throws AdminRefusal a member is too long for PostgreSQL to write as text */
async function readTakenRow(client: ClientBase, id: string): Promise<OutboxRow> {
  try {
    return await readOutboxRow(client, id, MAX_ENTRY_BYTES)
  } catch (error) {
    if (!sqlStateOrSystemCode(error).startsWith(LIMIT_EXCEEDED_CLASS)) throw error
    throw lengthRefusal('record or remove')
  }
}

/** The class of SQLSTATEs of values that are too long for PostgreSQL itself. */
const LIMIT_EXCEEDED_CLASS = '54'

/**
 * True when a column or table is gone: an operator removed an attribute after the registry was read. The next poll reads the
 * registry again. Were the row put aside, later events of its record would overtake it.
 */
const isMissingColumnOrTable = (error: unknown): boolean => ['42703', '42P01'].includes(sqlStateOrSystemCode(error))

/** The reason, for operators, why a row is put aside. */
function failureReason(error: unknown): string {
  if (error instanceof AdminRefusal) return error.message
  if (isStatementTimeout(error)) {
    return `publishing it took longer than a statement may (30 seconds), ${MOST_ROW_ATTEMPTS} times`
  }
  if (isValueRefusal(error)) return 'the database does not take what the row holds'
  return 'the server failed to publish it; the failure is logged'
}

/** Makes the input of an event from a row. @throws AdminRefusal a member is too long or no JSON, or its time is out of range */
function eventOfRow(row: OutboxRow): InputWithUndefined<Static<typeof publishEvent.input>> {
  const { namespace, reg_event_type, record, remove, replace } = row
  if (record === null) throw lengthRefusal('record')
  if (remove === null && row.has_remove) throw lengthRefusal('remove')
  return {
    namespace,
    reg_event_type,
    replace,
    // The cast is safe: the schema of the input refuses a value that is no object.
    record: readRowMember('record', record) as JsonObject,
    remove: remove === null ? undefined : (readRowMember('remove', remove) as Record<string, JsonValue[]>),
    record_type: row.record_type ?? undefined,
    event_id: row.event_id ?? undefined,
    occurred_at: row.occurred_at === null ? undefined : occurredAtText(row.occurred_at),
    source_version: row.source_version === null ? undefined : Number(row.source_version),
    corrects: row.corrects ?? undefined,
  }
}

const lengthRefusal = (member: string): AdminRefusal => new AdminRefusal(`${member}: must be at most ${MAX_ENTRY_BYTES} bytes`)

/** Returns the time of a row in ISO 8601. @throws AdminRefusal its year is not 1 to 9999: no date-time can say it */
function occurredAtText(time: Date | number): string {
  const at = new Date(time)
  const year = at.getUTCFullYear()
  if (year >= 1 && year <= 9_999) return isoTime(at)
  throw new AdminRefusal('occurred_at: must lie in the years 1 to 9999')
}

function readRowMember(member: string, json: string): JsonValue {
  try {
    return parseJson(json, { isShownName: (name) => isMemberName(KINDS, name) })
  } catch (error) {
    if (error instanceof JsonError) throw new AdminRefusal(`${member}: ${error.message}`)
    throw error
  }
}

/** The most rows that one call lists. */
const MOST_LISTED_ROWS = 1_000

/** Shows how many rows wait in the outbox, and lists those that could not be published. */
export const showOutbox = defineAdminFunction(
  {
    input: closed({ limit: Type.Optional(wholeNumber('At most so many failed rows (default: 50).', 1, MOST_LISTED_ROWS)) }),
    result: closed({
      waiting: wholeNumber('Rows that are to be published.'),
      failed: Type.Array(
        closed({
          id: text('id of the row.'),
          namespace: text('As it stands in the row.'),
          reg_event_type: text('As it stands in the row.'),
          event_id: orNull(text('As it stands in the row.')),
          failure: text('Why it cannot be published.'),
          created_at: instant('When it came.'),
          failed_at: instant('When it was tried.'),
        }),
      ),
    }),
  },
  async ({ db }: HasDatabase, { limit = 50 }) => {
    const { waiting } = await outboxHealth(db)
    return { waiting, failed: (await listFailedRows(db, limit)).map(shownFailedRow) }
  },
)

const shownFailedRow = (row: FailedOutboxRow) => ({
  ...row,
  created_at: isoTime(row.created_at),
  failed_at: isoTime(row.failed_at),
})

/** Lets failed rows be tried again. Rows are published in the order of their ids, so retried rows usually come first. */
export const retryOutbox = defineAct(
  {
    name: 'outbox retry',
    approval: 'never',
    input: closed({
      ids: Type.Optional(Type.Array(Type.String(), { description: 'ids of the rows (default: all that failed).' })),
    }),
    result: closed({ retried: wholeNumber('Rows that are tried again.') }),
  },
  async ({ db }: HasDatabase, { ids }) => ({ retried: await retryRows(db, ids ?? null) }),
)
