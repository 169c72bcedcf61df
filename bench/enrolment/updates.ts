/**
 * Updates of enrolments in batches of 100, beside the same merge as one prepared statement for each batch: the enrolment of
 * one programme into the document, the column of enrolments, the ledger, an event and the receipt. Both in this process.
 */
import { randomUUID } from 'node:crypto'
import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createSemaphore } from '@rollcall/base/shared/semaphore'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import type { Registry } from '@rollcall/core/model/registry'
import { readGrant } from '@rollcall/core/policy/grant'
import type { Database } from '@rollcall/database/database'
import { quoteName } from '@rollcall/database/names'
import { findParticipant } from '@rollcall/participants/store/participants'
import { operation } from '@rollcall/protocol'
import { recordTable } from '@rollcall/records/records/record-tables'
import { answerEnrolmentUpdates, type EnrolmentUpdateDeps } from '../../packages/engine/src/operations/enrolment-updates.ts'
import type { EnrolmentPlan } from '../enrolment.ts'
import { ASKER_SENDER } from '../search/question.ts'
import { credentialsOf, filledRegistry, shuffledIdentifiers } from '../search/registry.ts'
import { endless } from '../search/setting.ts'
import type { BenchDatabase } from '../shared/bench-database.ts'
import { databaseTime } from '../shared/database-time.ts'
import { databaseRow, type Row, ratioRow, writeResult } from '../shared/results.ts'
import { median, rounded } from '../shared/statistics.ts'
import { BENEFICIARIES } from './question.ts'

/** The least share of the floor's rate that ours must reach. */
const BAR = 0.5
const PROGRAMMES = ['PRG-01', 'PRG-05', 'PRG-09']
const STATUSES = ['Active', 'Suspended', 'Graduated']

/** An enrolment that changes its status with each update. */
interface Change {
  readonly person: string
  readonly enrolment: {
    readonly programme: { readonly programme_identifier: string }
    readonly enrolment_status: string
    readonly status_change_date: string
  }
}

type Send = (changes: readonly Change[]) => Promise<void>

/** Measures, prints and writes `enrolment-updates.json`. */
export async function updates({ db }: BenchDatabase, plan: EnrolmentPlan): Promise<readonly Row[]> {
  const { records, rounds, batch } = plan
  const registry = await filledRegistry(db, records, BENEFICIARIES)
  const changes = endlessChanges(endless(await shuffledIdentifiers(db, registry)), batch)
  const sides = { floor: floor(db, registry), ours: await ours(db, registry) }
  const measuredRounds = { floor: [] as Measured[], ours: [] as Measured[] }
  // The first round is not counted, where any is measured at all.
  for (let round = plan['warm-up'] > 0 ? 0 : 1; round <= rounds; round += 1) {
    for (const name of ['floor', 'ours'] as const) {
      const one = await measured(db, sides[name], changes, plan)
      if (round > 0) measuredRounds[name].push(one)
    }
  }
  const rates = measuredRounds.ours.map(({ rate }, at) => rate / (measuredRounds.floor[at]?.rate ?? Number.NaN))
  const ratio = rounded(median(rates), 2)
  const middle = { floor: middleOf(measuredRounds.floor), ours: middleOf(measuredRounds.ours) }
  await writeResult('enrolment-updates', { records, batch, ratio, bar: BAR, median: middle, ...measuredRounds })
  return [
    ratioRow('enrolment-updates', ratio, BAR, described(middle.ours), described(middle.floor)),
    databaseRow('enrolment-updates', middle.ours, middle.floor),
  ]
}

interface Measured {
  /** Enrolments a second. */
  readonly rate: number
  /** Microseconds of processor time of this process for each enrolment, and of PostgreSQL. */
  readonly cpu_us_per_request: number
  readonly database_us_per_request: number
}

async function measured(
  db: Database,
  send: Send,
  changes: Iterator<Change, never>,
  { batch, batches }: EnrolmentPlan,
): Promise<Measured> {
  const all = Array.from({ length: batches }, () => Array.from({ length: batch }, () => changes.next().value))
  const database = await databaseTime(db)
  const cpu = process.cpuUsage()
  const start = performance.now()
  for (const changes of all) await send(changes)
  const seconds = (performance.now() - start) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  const count = batches * batch
  return {
    rate: count / seconds,
    cpu_us_per_request: (user + system) / count,
    database_us_per_request: ((await databaseTime(db)) - database) / count,
  }
}

/** The medians of rounds. */
function middleOf(rounds: readonly Measured[]): Measured {
  const of = (value: (round: Measured) => number): number => Math.round(median(rounds.map(value)))
  return {
    rate: of(({ rate }) => rate),
    cpu_us_per_request: of(({ cpu_us_per_request }) => cpu_us_per_request),
    database_us_per_request: of(({ database_us_per_request }) => database_us_per_request),
  }
}

const described = ({ rate, cpu_us_per_request, database_us_per_request }: Measured): string =>
  `${rate} enrolments/s, ${cpu_us_per_request} + ${database_us_per_request} µs`

/** Changes of yesterday, a millisecond apart: all are later than those of a run before on the same database. */
function* endlessChanges(people: Iterator<string, never>, batch: number): Generator<Change, never> {
  const start = Date.now() - 86_400_000
  for (let at = 0; ; at += 1) {
    const programme_identifier = PROGRAMMES[at % PROGRAMMES.length] ?? ''
    const enrolment_status = STATUSES[Math.floor(at / batch) % STATUSES.length] ?? ''
    const status_change_date = new Date(start + at).toISOString()
    const programme = { programme_identifier }
    yield { person: people.next().value, enrolment: { programme, enrolment_status, status_change_date } }
  }
}

async function ours(db: Database, registry: Registry): Promise<Send> {
  await credentialsOf(db, ASKER_SENDER, { signature_policy: 'if-present', allow_unsigned: true })
  const participant = await findParticipant(db, ASKER_SENDER)
  if (participant === null) throw new Error('there is no participant')
  const deps: EnrolmentUpdateDeps = {
    db,
    clock: SYSTEM_CLOCK,
    turns: createSemaphore(1),
    limits: DEFAULT_LIMITS,
    // A receipt is a few kilobytes: its encryption is not what is measured.
    bodies: { encryptBody: async (text) => Buffer.from(text), decryptBody: async (body) => String(body) },
    metrics: { itemAnswered: () => undefined, searched: () => undefined, emergencyUsed: () => undefined },
  }
  const updating = operation('enrolment-updates')
  const terms = { operations: 'all', see: 'all', programmes: 'all', basis: 'law' } as const
  const grant = readGrant(registry.kind, { id: 1, terms })
  let at = 0
  return async (changes) => {
    at += 1
    const header = {
      version: '1.0.0',
      message_id: randomUUID(),
      action: 'notify',
      sender_id: ASKER_SENDER,
      message_ts: new Date(Date.UTC(2026, 0, 1) + at).toISOString(),
    }
    const exchange = {
      correlation_id: randomUUID(),
      operation: updating,
      registry,
      participant,
      header,
      grant,
      encrypted: false,
      received_at: new Date(),
      isGone: () => false,
      traceparent: null,
    }
    const beneficiaries = changes.map(({ person, enrolment }) => ({
      member: { member_identifier: person, programme_identifier: enrolment },
    }))
    const message = { transaction_id: 'tx', enrolled_updates: { beneficiaries } }
    const { members } = await answerEnrolmentUpdates(deps, { exchange, message })
    const items = members.enrolled_response as readonly { readonly status: string }[]
    if (items.some(({ status }) => status !== 'succ')) throw new Error('a beneficiary was rejected')
  }
}

/** The floor: one statement does as much of the merge as SQL can, and reads no more of a record than it needs. */
function floor(db: Database, registry: Registry): Send {
  const { table, identifierTable } = recordTable(registry, registry.kind.record_types[0])
  const programme = "'{programme,programme_identifier}'"
  const text = `with asked as (select * from unnest($1::text[], $2::jsonb[]) as asked (person, enrolment)),
    locked as (
      select record.id, document::jsonb as document, asked.enrolment
      from asked join ${quoteName(identifierTable)} as named
        on named.type = 'UIN' and named.value = asked.person and names_record
      join ${quoteName(table)} as record on record.id = named.record
      order by record.id for no key update of record
    ),
    merged as (
      select id, locked.enrolment, document, list from locked cross join lateral (
        select jsonb_agg(one order by one #>> ${programme}) as list from (
          select one from jsonb_array_elements(
            case jsonb_typeof(document #> '{member,programme_identifier}')
              when 'array' then document #> '{member,programme_identifier}'
              else jsonb_build_array(document #> '{member,programme_identifier}') end) as held (one)
          where one #>> ${programme} is distinct from locked.enrolment #>> ${programme}
          union all select locked.enrolment
        ) as all_of_them
      ) as lists
    ),
    written as (
      update ${quoteName(table)} as record
      set document = jsonb_set(merged.document, '{member,programme_identifier}', list)::text, updated_at = now(),
        enrolment = (select jsonb_agg(jsonb_build_object('programme_identifier', lower(one #>> ${programme}),
          'enrolment_status', one ->> 'enrolment_status')) from jsonb_array_elements(list) as held (one))
      from merged where merged.id = record.id returning record.id
    ),
    ledger as (
      insert into enrolment_ledger (registry, record_type, record, state)
      select $3, 'Beneficiary', id, jsonb_build_object(enrolment #>> ${programme}, jsonb_build_object(
        enrolment ->> 'status_change_date', jsonb_build_array($4::text, enrolment ->> 'enrolment_status')))::text
      from merged
      on conflict (registry, record_type, record) do update set state = excluded.state
    ),
    events as (
      insert into event (registry, event_type, record_type, record, record_version, occurred_at)
      select $3, 'enrollement_status_change', 'Beneficiary', id, (extract(epoch from clock_timestamp()) * 1000000)::bigint, now() from merged
    ),
    receipt as (
      insert into enrolment_receipt (correlation_id, encrypted, body) values ($5, false, $6)
    )
    select count(*)::integer as written from written`
  return async (changes) => {
    const id = randomUUID()
    const answer = changes.map(({ person }) => {
      return { reference_id: person, timestamp: new Date().toISOString(), status: 'succ' }
    })
    const { rows } = await db.pool.query<{ written: number }>({
      name: 'floor of updates',
      text,
      values: [
        changes.map(({ person }) => person),
        changes.map(({ enrolment }) => JSON.stringify(enrolment)),
        registry.id,
        `${Date.now()} ${id}`,
        id,
        Buffer.from(JSON.stringify(answer)),
      ],
    })
    if (rows[0]?.written !== changes.length) throw new Error('a beneficiary was not written')
  }
}
