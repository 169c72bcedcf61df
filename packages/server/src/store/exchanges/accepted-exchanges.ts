/** Exchanges that were accepted and are answered later, as the one who answers them needs them. */
import type { Database } from '../db/database.ts'
import { groupCommit } from '../db/group-commit.ts'
import { perPool } from '../db/per-pool.ts'
import type { AcceptedExchangeRow } from '../db/tables.ts'
import { isStorable } from '../db/text.ts'

/** An accepted exchange, and how far its answer is. */
export type AcceptedExchange = Pick<
  AcceptedExchangeRow,
  | 'correlation_id'
  | 'participant'
  | 'registry'
  | 'operation'
  | 'transaction_id'
  | 'sender_uri'
  | 'encrypted'
  | 'items'
  | 'references_stored'
> & {
  /** Header and message in clear, sealed for `requestContext`; null for a large one, see `findRequest`. */
  readonly request: Buffer | null
  /** Of header and message in clear. */
  readonly request_bytes: number
  readonly state: 'accepted' | 'replying' | 'replied' | 'failed'
  /** The last page that has a delivery, 0 for none. */
  readonly page: number
  readonly received_at: Date
  readonly started_at: Date | null
}

/** One further page of an item, as `answerPage` wants it. */
export interface KeptItemPage {
  readonly position: number
  readonly page_size: number
  /** Records in all pages. */
  readonly total: number
  /** Of this page, in order. */
  readonly record_ids: readonly number[]
}

/** Bytes up to which a request is read with its exchange. */
export const SMALL_REQUEST = 262_144

const COLUMNS = `correlation_id, participant, registry, operation, transaction_id, sender_uri, encrypted, items,
  references_stored, case when size.bytes <= ${SMALL_REQUEST} then request end as request, size.bytes as request_bytes,
  state, page, received_at, started_at`

/** Null when there is none, or none any more. Those that are asked for at once are read together. */
export async function findAccepted(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
): Promise<AcceptedExchange | null> {
  return reads(pool).submit(correlation_id)
}

/** There are never more than jobs in work, and questions about them. */
const reads = perPool((pool) =>
  groupCommit<string, AcceptedExchange | null>(
    async (ids) => {
      const { rows } = await pool.query<AcceptedExchange>({
        name: 'find accepted exchanges',
        text: `select ${COLUMNS} from accepted_exchange
          cross join lateral (select coalesce(request_bytes, octet_length(request)) as bytes) as size
          where correlation_id = any($1::uuid[])`,
        values: [ids],
      })
      const found = new Map(rows.map((row) => [row.correlation_id, row]))
      return ids.map((id) => found.get(id.toLowerCase()) ?? null)
    },
    { waiting: Infinity },
  ),
)

/** The sealed request of an exchange, however large; null when there is none any more. */
export async function findRequest(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
): Promise<Buffer | null> {
  const { rows } = await pool.query<{ request: Buffer }>({
    name: 'find accepted request',
    text: 'select request from accepted_exchange where correlation_id = $1',
    values: [correlation_id],
  })
  return rows[0]?.request ?? null
}

/** Notes that work on it has begun: whoever asks is told that it is being worked on. */
export async function markStarted({ pool }: Pick<Database, 'pool'>, correlation_id: string): Promise<void> {
  await pool.query({
    name: 'start exchange',
    text: 'update accepted_exchange set started_at = now() where correlation_id = $1 and started_at is null',
    values: [correlation_id],
  })
}

/** Has a job look at it so many seconds from now, unless it is answered: one job, however many ask for it. */
export async function lookAgain(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  seconds: number,
): Promise<void> {
  await pool.query({
    name: 'look again at exchange',
    text: `select graphile_worker.add_job('process', json_build_object('correlation_id', correlation_id),
        run_at => now() + make_interval(secs => $2), job_key => 'process:' || correlation_id)
      from accepted_exchange where correlation_id = $1 and state in ('accepted', 'replying')`,
    values: [correlation_id, seconds],
  })
}

/**
 * What stands on a further page: the items that found as much, in the order of the request.
 * @param page from 2
 * @param range of positions: the first, and the first behind them; all unless said otherwise
 */
export async function findKeptPage(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  page: number,
  { from, to }: { readonly from: number; readonly to: number } = ALL,
): Promise<readonly KeptItemPage[]> {
  const { rows } = await pool.query<KeptItemPage>({
    name: 'find kept page',
    text: `select position, page_size, total, record_ids[($2 - 1) * page_size + 1 : $2 * page_size] as record_ids
      from exchange_item where correlation_id = $1 and record_ids is not null and total > ($2 - 1) * page_size
        and position >= $3 and position < $4
      order by position`,
    values: [correlation_id, page, from, to],
  })
  return rows
}

const ALL = { from: 0, to: 2_147_483_647 }

/**
 * The next step that has something on it, of an exchange all of whose items have had their first page; null when there
 * is none. Steps go through the portions page by page (`operations/portions.ts`).
 */
export async function findNextStep(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  step: number,
  { portions, portion }: { readonly portions: number; readonly portion: number },
): Promise<number | null> {
  const { rows } = await pool.query<{ step: number | null }>({
    name: 'find next step',
    // Of each item its first page that comes after the step, where it has as many.
    text: `select min((page - 1) * $3 + place + 1) as step
      from exchange_item
        cross join lateral (select position / $4 as place) as placed
        cross join lateral (select greatest(2, ($2 - place - 1 + $3) / $3 + 1) as page) as next
      where correlation_id = $1 and record_ids is not null and total > (page - 1) * page_size`,
    values: [correlation_id, step, portions, portion],
  })
  return rows[0]?.step ?? null
}

/** An exchange that its sender asks about. */
export interface AskedExchange {
  readonly correlation_id: string
  readonly transaction_id: string
  /** Null: it was answered on the synchronous road, of which nothing else is kept. */
  readonly accepted: AcceptedExchange | null
  /** The delivery that carries its first page, with its sealed body. */
  readonly first: { readonly id: string; readonly body: Buffer } | null
}

/** Whose exchanges are looked through: the asker's own, where and what they were asked. */
export interface Asker {
  /** `Participant.id` */
  readonly participant: number
  /** `Registry.id` */
  readonly registry: number
  /** An operation's name. */
  readonly operation: string
}

/** Messages that bear one transaction_id, the newest, among which the one that is asked about is looked for. */
const OF_ONE_ID = 100

/** The newest of the asker's exchanges with one of these transaction_ids, or correlation_ids. */
export async function findAskedExchange(
  { pool }: Pick<Database, 'pool'>,
  { participant, registry, operation }: Asker,
  by: { readonly transaction_ids: readonly string[] } | { readonly correlation_ids: readonly string[] },
): Promise<AskedExchange | null> {
  const [asked, values] =
    'transaction_ids' in by
      ? ['unnest($4::text[]) as asked (id)', by.transaction_ids.filter(isStorable)]
      : ['unnest($4::uuid[]) as asked (id)', by.correlation_ids.filter(isUuid)]
  const named =
    'transaction_ids' in by ? 'transaction_id = asked.id collate "C"' : 'correlation_id = asked.id'
  const { rows } = await pool.query<{ correlation_id: string; transaction_id: string }>({
    text: `select correlation_id, transaction_id from ${asked} cross join lateral (
        select * from exchange where participant = $1 and transaction_id is not null and ${named}
        order by received_at desc limit ${OF_ONE_ID}
      ) as newest
      where registry = $2 and operation = $3 order by received_at desc limit 1`,
    values: [participant, registry, operation, values],
  })
  const [found] = rows
  if (found === undefined) return null
  const { correlation_id } = found
  const accepted = await findAccepted({ pool }, correlation_id)
  return {
    ...found,
    accepted,
    first: accepted === null ? null : await findFirstPage({ pool }, correlation_id),
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const isUuid = (text: string): boolean => UUID.test(text)

/** The delivery that carries the first page, or the first one of another portion, by its step. */
export async function findFirstPage(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
  step = 1,
): Promise<AskedExchange['first']> {
  const { rows } = await pool.query<{ id: string; body: Buffer }>({
    name: 'find first page',
    text: 'select id, body from delivery where correlation_id = $1 and page = $2 order by created_at limit 1',
    values: [correlation_id, step],
  })
  return rows[0] ?? null
}

/** How each answered item of an exchange was answered, by its position. */
export async function findItemStatuses(
  { pool }: Pick<Database, 'pool'>,
  correlation_id: string,
): Promise<ReadonlyMap<number, string>> {
  const { rows } = await pool.query<{ position: number; status: string }>({
    name: 'find item statuses',
    text: 'select position, status from exchange_item where correlation_id = $1',
    values: [correlation_id],
  })
  return new Map(rows.map(({ position, status }) => [position, status]))
}
