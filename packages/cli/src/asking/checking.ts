/**
 * The check of our own system against a registry, from its side: the steps of `rollcall participant check`, in their order, each
 * with what was sent and what came.
 */
import {
  AckError,
  type Handlers,
  ItemRejected,
  itemsOrThrow,
  notifyMeta,
  RegistryClient,
  type SubscribeInput,
  TokenRefused,
} from '@rollcall/client'
import type { JsonObject, SearchCriteria, SubscribeCriteria } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { type CalledBack, calledBack } from './called-back.ts'
import { inWords, made } from './failures.ts'
import { codesIn } from './subscriptions.ts'
import type { Target } from './target.ts'

export interface CheckedStep {
  readonly name: string
  readonly state: 'passed' | 'missing' | 'skipped'
  readonly sent: string
  /** What came, or what to do. */
  readonly came: string
}

export interface Checking {
  /** A person of whom the registry has a record. */
  readonly query: SearchCriteria
  /** Null: the system asks synchronously only. */
  readonly callbacks: Pick<CalledBack, 'at' | 'sender_uri'> | null
  /** What is subscribed to; null: nothing. */
  readonly subscription: { readonly event: string; readonly record_type: string } | null
  /** Milliseconds to wait for each callback. */
  readonly wait: number
  readonly signal: AbortSignal
  /** Called with each step as it ends. */
  readonly tell: (step: CheckedStep) => void
}

const NOT_ASKED = 'nothing'

/** Both are sent by the operator's side of the check alone. */
const OF_THE_OPERATOR =
  'the operator of the registry makes the registry send it: rollcall participant check, with --wait, at the same time as this command'

/** Goes through the steps. @returns whether none is missing */
export async function checkSystem(target: Target, checking: Checking): Promise<boolean> {
  const steps: CheckedStep[] = []
  const tell = (step: CheckedStep): void => {
    steps.push(step)
    checking.tell(step)
  }
  await checkSearch(target, { ...checking, tell })
  const { callbacks } = checking
  if (callbacks === null) {
    for (const name of LATER) tell({ name, state: 'skipped', sent: NOT_ASKED, came: '--sync-only is given' })
  } else if (steps.every(({ state }) => state === 'passed')) {
    await checkCallbacks(target, { ...checking, callbacks, tell })
  } else {
    const came = 'the synchronous search must pass first'
    for (const name of LATER) tell({ name, state: 'missing', sent: NOT_ASKED, came })
  }
  return steps.every(({ state }) => state !== 'missing')
}

const LATER = ['callback', 'retry', 'subscribe', 'notification', 'unsubscribe'] as const

type Telling = Pick<Checking, 'query' | 'signal' | 'tell' | 'wait' | 'subscription'>

async function checkSearch({ client, base_url }: Target, { query, signal, tell }: Telling): Promise<void> {
  const asking = made(() => new RegistryClient(client))
  const token = { name: 'token', sent: 'client_id and client_secret' }
  const search = { name: 'search', sent: `a signed search to ${base_url.href}` }
  try {
    const answer = await asking.search(query, { signal })
    const [item] = itemsOrThrow(answer)
    const found = item?.data?.reg_records.length ?? 0
    tell({ ...token, state: 'passed', came: 'an access token that the registry accepts' })
    const came = `${found === 0 ? 'no record' : `${found} of ${item?.pagination?.total_count ?? found} records`}, ${sealOf(answer)}`
    if (found > 0) tell({ ...search, state: 'passed', came })
    else tell({ ...search, state: 'missing', came: `${came}: name a person who is there with --identifier` })
  } catch (error) {
    const came = await wordsOf(error, signal)
    const isToken = error instanceof TokenRefused || (error instanceof AckError && error.httpStatus === 401)
    tell({
      ...token,
      state: isToken || !(error instanceof AckError || error instanceof ItemRejected) ? 'missing' : 'passed',
      came,
    })
    tell({ ...search, state: 'missing', came })
  }
}

const sealOf = ({ signed }: { readonly signed: boolean }): string =>
  signed ? 'in a signed answer that verifies' : 'in an answer without signature'

/** What a step that failed says. */
const wordsOf = (error: unknown, signal: AbortSignal): Promise<string> =>
  inWords(Promise.reject(error), signal).then(
    () => '',
    (failure: unknown) => {
      if (failure instanceof CommandError && !signal.aborted) return failure.message
      throw failure
    },
  )

/** What arrives while the steps go on. */
interface Arrived {
  /** How often each message_id came. */
  readonly messages: Map<string, number>
  tested: boolean
}

async function checkCallbacks(
  target: Target,
  checking: Telling & { readonly callbacks: NonNullable<Checking['callbacks']> },
): Promise<void> {
  const { callbacks, wait, signal, tell } = checking
  const arrived: Arrived = { messages: new Map(), tested: false }
  const handlers: Handlers = {
    notify: (notification) => {
      if (notifyMeta(notification)?.test === true) arrived.tested = true
    },
  }
  const listening = {
    ...callbacks,
    handlers,
    callback_timeout: wait,
    arrived: (message_id: string) => arrived.messages.set(message_id, (arrived.messages.get(message_id) ?? 0) + 1),
  }
  await calledBack(target, listening, async (asking, rejected) => {
    const both = AbortSignal.any([signal, rejected])
    const step = { name: 'callback', sent: 'an asynchronous search' }
    const answered = await attempt(signal, async () => {
      const callbacks = asking.searchByCallback(checking.query, { timeout: wait, signal: both })
      let first: { readonly message_id: string; readonly came: string } | undefined
      for await (const callback of callbacks) {
        first ??= { message_id: callback.header.message_id, came: sealOf(callback) }
      }
      return first
    })
    if (answered.value === undefined) tell({ ...step, state: 'missing', came: answered.failed ?? 'no on-search' })
    else tell({ ...step, state: 'passed', came: `an on-search ${answered.value.came}` })

    const codes = await subscribe(asking, { ...checking, signal: both })
    const again = answered.value?.message_id
    // Both are waited for at the same time: the operator's side sends them within one look.
    const isRepeated = (): boolean => again !== undefined && (arrived.messages.get(again) ?? 0) > 1
    const isOver = (): boolean => isRepeated() && (codes.length === 0 || arrived.tested)
    await until(isOver, wait, signal)
    const acknowledged = { sent: 'an acknowledgement' }
    tell(
      isRepeated()
        ? { name: 'retry', state: 'passed', ...acknowledged, came: 'the same on-search once more; handled once' }
        : {
            name: 'retry',
            state: 'missing',
            sent: NOT_ASKED,
            came: `no on-search came a second time: ${OF_THE_OPERATOR}`,
          },
    )
    if (codes.length === 0) return
    tell(
      arrived.tested
        ? { name: 'notification', state: 'passed', ...acknowledged, came: 'a test notification' }
        : {
            name: 'notification',
            state: 'missing',
            sent: NOT_ASKED,
            came: `no test notification came: ${OF_THE_OPERATOR}`,
          },
    )
    const ended = await attempt(signal, () => asking.unsubscribe(codes, { signal: both }).then(itemsOrThrow))
    const ending = { name: 'unsubscribe', sent: `an unsubscribe of ${codes.join(', ')}` }
    tell(
      ended.failed === undefined
        ? { ...ending, state: 'passed', came: 'an on-unsubscribe: the subscription has ended' }
        : { ...ending, state: 'missing', came: ended.failed },
    )
  })
}

/** @returns codes of the subscriptions; none: the steps that need one are told */
async function subscribe(
  asking: RegistryClient,
  { query, subscription, signal, tell }: Telling,
): Promise<readonly string[]> {
  const others = (state: CheckedStep['state'], came: string): readonly string[] => {
    for (const name of ['notification', 'unsubscribe']) tell({ name, state, sent: NOT_ASKED, came })
    return []
  }
  const step = { name: 'subscribe', sent: `a subscription to ${subscription?.event ?? 'nothing'}` }
  if (subscription === null) {
    const came = 'no --event is given'
    tell({ ...step, sent: NOT_ASKED, state: 'skipped', came })
    return others('skipped', came)
  }
  const criteria = {
    reg_event_type: subscription.event,
    filter_type: query.query_type,
    filter: query.query,
    notify_record_type: subscription.record_type,
  }
  const made = await attempt(signal, async () => {
    const answer = await asking.subscribe(criteria as JsonObject & SubscribeCriteria as SubscribeInput, { signal })
    return itemsOrThrow(answer).flatMap(codesIn)
  })
  const codes = made.value ?? []
  if (codes.length > 0) {
    tell({ ...step, state: 'passed', came: `an on-subscribe with ${codes.join(', ')}` })
    return codes
  }
  const state = made.forbidden ? 'skipped' : 'missing'
  const came = made.failed ?? 'an on-subscribe without a subscription'
  tell({ ...step, state, came })
  return others(state, `there is no subscription: ${came}`)
}

interface Attempt<Result> {
  readonly value?: Result
  readonly failed?: string
  /** Whether it is not granted. */
  readonly forbidden?: boolean
}

async function attempt<Result>(signal: AbortSignal, work: () => Promise<Result>): Promise<Attempt<Result>> {
  try {
    return { value: await work() }
  } catch (error) {
    const forbidden = error instanceof AckError && error.code === 'err.request.forbidden'
    return { failed: await wordsOf(error, signal), forbidden }
  }
}

/** Milliseconds from one look to the next. */
const PAUSE = 100

async function until(isOver: () => boolean, milliseconds: number, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + milliseconds; !isOver() && performance.now() < end; ) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, PAUSE))
  }
}
