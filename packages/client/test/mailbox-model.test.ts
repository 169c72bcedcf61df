/** Subscriptions that share mailboxes: each gets what it would get alone. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type EventContext, onEvent, type ReceivedMessages, type Receiver } from '../src/index.ts'
import { CIVIL, receiver, request } from './callbacks.ts'
import { type Envelope, type Interest, MailboxModel, type Row } from './mailbox-model.ts'

interface Handled {
  readonly code: string
  readonly reference_id: string
  readonly context: EventContext
}

/** Every message is new to it, as to a process that was restarted: only marks tell what was handled. */
const FORGETFUL: ReceivedMessages = { claim: async () => 'claimed', done: async () => undefined, release: async () => undefined }

/** A receiver that does not know the kind of its registry, and what it has handled. */
function consumer() {
  const handled: Handled[] = []
  let fails = false
  const otherwise = (_record: unknown, context: EventContext): void => {
    if (fails) throw new Error('not now')
    const { reference_id } = context.event
    for (const code of Object.keys(context.subscriptions)) handled.push({ code, reference_id, context })
  }
  const to: Receiver = receiver({
    peers: [{ ...CIVIL, signature: 'off' }],
    memory: FORGETFUL,
    handlers: { notify: onEvent({ otherwise }) },
  })
  return {
    handled,
    async take({ header, message }: Pick<Envelope, 'header' | 'message'>, failing = false): Promise<number> {
      fails = failing
      const { status } = await to.handle(request(JSON.stringify({ header, message }), { path: '/registry/notify' }))
      return status
    },
  }
}

/** The part of an envelope for one subscription; null: there is none. */
function forOne({ header, message }: Envelope, code: string): Pick<Envelope, 'header' | 'message'> | null {
  // biome-ignore lint/suspicious/noExplicitAny: the model composes it
  const { subscriptions, ...meta } = header.meta as any
  const notify_event = message.notify_event.filter(({ reference_id }) => subscriptions[reference_id].includes(code))
  if (notify_event.length === 0) return null
  const own = Object.fromEntries(notify_event.map(({ reference_id }) => [reference_id, [code]]))
  const { total_count: _, ...others } = header
  return { header: { ...others, meta: { ...meta, subscriptions: own } }, message: { ...message, notify_event } }
}

const index = fc.nat({ max: 20 })
const interest: fc.Arbitrary<Interest> = fc.record({
  event_type: fc.constantFrom('UPDATE', 'REGISTER'),
  filter: fc.subarray([0, 1, 2], { minLength: 1 }),
  held: fc.boolean(),
  mailbox: fc.constantFrom(0, 0, 0, 1),
  asked_reg_type: fc.constantFrom(null, 'ns:org:RegistryType:Individual', 'Population'),
  asked_record_type: fc.constantFrom(null, 'SRPerson', 'ns:CRVSPerson'),
})
const change = fc.record({
  act: fc.constant('change' as const),
  record: fc.constantFrom(0, 1),
  event_type: fc.constantFrom('UPDATE', 'REGISTER'),
  value: fc.constantFrom(0, 1, 2),
})
const correct = fc.record({ act: fc.constant('correct' as const), event_type: fc.constantFrom('CANCEL', 'CORRECTION'), index })
const send = fc.record({
  act: fc.constant('send' as const),
  mailbox: fc.constantFrom(0, 0, 0, 1),
  outcome: fc.constantFrom('taken', 'taken', 'sent twice', 'fails first', 'recalled', 'refused'),
})
const step = fc.oneof(
  { weight: 6, arbitrary: change },
  { weight: 6, arbitrary: send },
  { weight: 3, arbitrary: correct },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('subscribe' as const), interest }) },
  { weight: 3, arbitrary: fc.record({ act: fc.constantFrom('again', 'move', 'backfill', 'tick', 'retry'), index }) },
)

/** All that is due goes out. */
const REST = ['tick', 'retry'].flatMap((act) => [
  { act: act as 'tick', index: 0 },
  ...Array.from({ length: 60 }, (_, at) => {
    return { act: 'send' as const, mailbox: (at % 2) as 0 | 1, outcome: 'taken' as const }
  }),
])

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never

it('each subscription gets what it would get alone, each once and in order, and what is superseded says so', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(interest, { minLength: 1, maxLength: 4 }),
      fc.array(step, { maxLength: 40, size: 'max' }),
      fc.integer({ min: 1, max: 4 }),
      async (interests, steps, items) => {
        const model = new MailboxModel(items)
        for (const one of interests) model.subscribe(one)
        const shared = consumer()
        const alone = new Map<string, ReturnType<typeof consumer>>()
        const deliver = async (envelope: Envelope, failing = false): Promise<void> => {
          const status = await shared.take(envelope, failing)
          if (!failing) expect(status).toBe(200)
          for (const { code } of model.subscriptions) {
            const own = forOne(envelope, code)
            const one = alone.get(code) ?? consumer()
            alone.set(code, one)
            if (own !== null) await one.take(own, failing)
          }
        }
        for (const one of [...steps, ...REST]) await play(model, one, deliver)

        for (const { code, id } of model.subscriptions) {
          const got = shared.handled.filter((one) => one.code === code)
          expect(said(got)).toEqual(said(alone.get(code)?.handled ?? []))
          expect(new Set(got.map(({ reference_id }) => reference_id)).size).toBe(got.length)
          const has = (row: Row) => got.some(({ reference_id }) => eventOf(reference_id) === row.event)
          const own = model.rows.filter((row) => row.subscription === id && row.state === 'sent')
          // A backfill comes last: by then the subscription may have had a later event of the record.
          const isOlder = (row: Row) =>
            row.purpose === 'backfill' &&
            own.some((other) => other.record === row.record && other.record_version > row.record_version)
          const lost = own.filter((row) => !row.wasDead && !has(row) && !isOlder(row))
          expect(lost).toEqual([])
          const order = got.map(({ reference_id }) => reference_id)
          for (const [at, { context }] of got.entries()) {
            if (context.corrects !== null) expect(order.indexOf(context.corrects)).toBeLessThan(at)
          }
          const events = got.filter(({ context }) => !context.backfill && context.corrects === null)
          for (const [, of] of Map.groupBy(events, ({ context }) => recordOf(context))) {
            const versions = of.map(({ context }) => context.record_version ?? 0)
            expect(versions).toEqual(versions.toSorted((one, other) => one - other))
          }
        }
        const last = new Map<string, number>()
        for (const { context } of shared.handled) {
          const { record_version, superseded } = context
          const latest = last.get(recordOf(context)) ?? 0
          expect(superseded).toBe(record_version !== 0 && (record_version ?? 0) < latest)
          last.set(recordOf(context), Math.max(latest, record_version ?? 0))
        }
      },
    ),
    { numRuns: 60 },
  )
})

async function play(
  model: MailboxModel,
  one: Step | (typeof REST)[number],
  deliver: (envelope: Envelope, failing?: boolean) => Promise<void>,
): Promise<void> {
  if (one.act === 'change') return model.change(one.record, one.event_type, one.value)
  if (one.act === 'subscribe') return model.subscribe(one.interest)
  if (one.act === 'send') {
    const envelope = model.next(one.mailbox)
    if (envelope === undefined) return
    const { outcome } = one
    if (outcome === 'fails first') await deliver(envelope, true)
    if (outcome !== 'refused') await deliver(envelope)
    if (outcome === 'sent twice') await deliver(envelope)
    for (const row of envelope.rows) {
      if (outcome === 'recalled') row.state = 'waiting'
      if (outcome === 'refused') Object.assign(row, { state: 'dead', wasDead: true })
    }
    return
  }
  if (one.act === 'tick') return model.tick()
  if (one.act === 'retry') {
    for (const row of model.rows) if (row.state === 'dead') row.state = 'waiting'
    return
  }
  if (one.act === 'correct') {
    const event = model.changes.at(-1 - (one.index % 3))
    if (event !== undefined) model.correct(one.event_type, event)
    return
  }
  const live = model.subscriptions.filter(({ isLive }) => isLive)
  const chosen = live[one.index % live.length]
  if (chosen === undefined) return
  if (one.act === 'again') model.subscribeAgain(chosen)
  if (one.act === 'move') model.move(chosen)
  if (one.act === 'backfill') model.backfill(chosen)
}

const said = (handled: readonly Handled[]) =>
  handled.map(({ reference_id, context }) => `${reference_id} ${context.event_type} ${context.record_version}`)

/** The id of a subscription's event may come from the mailbox that it had before: the event is told by its number. */
const eventOf = (reference_id: string): number => Number(reference_id.split('-')[1])

/** The UIN of the record. */
const recordOf = ({ event }: EventContext): string => JSON.stringify(event.data.reg_records.identifier)
