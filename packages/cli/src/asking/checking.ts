/**
 * Tries out a participant's keys and addresses with a registry: sends requests as the participant, and reports the answers and
 * callbacks. The operator of the registry gives the verdict, with `rollcall participant check`.
 */
import { type Handlers, itemsOrThrow, notifyMeta, RegistryClient, type SubscribeInput } from '@rollcall/client'
import type { JsonObject, SearchCriteria, SubscribeCriteria } from '@rollcall/protocol'
import { CommandError } from '../failure.ts'
import { type CallbackSetup, withCallbacks } from './called-back.ts'
import { callClient, makeClient } from './failures.ts'
import { subscriptionCodes } from './subscriptions.ts'
import type { RegistryTarget } from './target.ts'

export interface CheckStepResult {
  readonly name: string
  readonly state: 'passed' | 'missing'
  readonly sent: string
  /** The answer to a passed step; for the state `missing`, the failure or what to do. */
  readonly came: string
}

export interface SystemCheckOptions {
  /** A query that finds a person whom the registry has. */
  readonly query: SearchCriteria
  /** Host and port to listen on for callbacks (`at`), and their address in requests; null: synchronous requests only. */
  readonly callbacks: Pick<CallbackSetup, 'at' | 'sender_uri'> | null
  /** The subscription to make; null for none. */
  readonly subscription: { readonly event: string; readonly record_type: string } | null
  /** Milliseconds to wait for each callback. */
  readonly wait: number
  readonly signal: AbortSignal
  /** Called with the result of each step. */
  readonly tell: (step: CheckStepResult) => void
}

/**
 * Runs one step and tells its result. `sent` says in words what is sent; `ask` does the step, and returns in words what came.
 * @throws StepFailed after the failure was told
 */
type RunStep = (name: string, sent: string, ask: () => Promise<string>) => Promise<void>

class StepFailed extends Error {}

/** Runs the steps; a request that fails ends them. @returns whether all passed */
export async function runSystemCheck(target: RegistryTarget, checking: SystemCheckOptions): Promise<boolean> {
  const { query, callbacks, signal, tell } = checking
  const runStep: RunStep = async (name, sent, ask) => {
    const came = await callClient(ask(), signal).catch((error: unknown) => {
      if (!(error instanceof CommandError) || signal.aborted) throw error
      tell({ name, state: 'missing', sent, came: error.message })
      throw new StepFailed()
    })
    tell({ name, state: 'passed', sent, came })
  }
  try {
    await runStep('search', `a signed search to ${target.base_url.href}`, async () => {
      const answer = await makeClient(() => new RegistryClient(target.client)).search(query, { signal })
      const [item] = itemsOrThrow(answer)
      const found = item?.data?.reg_records.length ?? 0
      if (found === 0) throw new CommandError('no record was found: name a person of this registry with --identifier')
      return `${found} of ${item?.pagination?.total_count ?? found} records, ${signatureText(answer)}`
    })
    return callbacks === null || (await runCallbackCheckSteps(target, { ...checking, callbacks }, runStep))
  } catch (error) {
    if (error instanceof StepFailed) return false
    throw error
  }
}

const signatureText = ({ signed }: { readonly signed: boolean }): string =>
  signed ? 'in a signed answer that verifies' : 'in an answer without signature'

/**
 * Checks callbacks and a subscription.
 * @returns true when the on-search came a second time and the test notification came. The registry sends both while its operator
 * runs `participant check --wait`. Without a subscription, no test notification is expected.
 */
function runCallbackCheckSteps(
  target: RegistryTarget,
  { query, callbacks, subscription, wait, signal, tell }: SystemCheckOptions & { readonly callbacks: object },
  runStep: RunStep,
): Promise<boolean> {
  /** How often a callback came, by its message_id. */
  const callbackCounts = new Map<string, number>()
  let isTested = false
  const handlers: Handlers = {
    notify: (notification) => {
      isTested ||= notifyMeta(notification)?.test === true
    },
  }
  const arrived = (id: string) => callbackCounts.set(id, (callbackCounts.get(id) ?? 0) + 1)
  const listening = { ...callbacks, handlers, callback_timeout: wait, arrived } as CallbackSetup
  return withCallbacks(target, listening, async (asking, rejected) => {
    const options = { signal: AbortSignal.any([signal, rejected]) }
    let first = ''
    let codes: readonly string[] = []
    await runStep('callback', 'an asynchronous search', async () => {
      let came = ''
      for await (const callback of asking.searchByCallback(query, { ...options, timeout: wait })) {
        first ||= callback.header.message_id
        came ||= `an on-search ${signatureText(callback)}`
      }
      return came
    })
    if (subscription !== null) {
      await runStep('subscribe', `a subscription to ${subscription.event}`, async () => {
        const answer = await asking.subscribe(subscriptionCriteria(query, subscription), options)
        codes = itemsOrThrow(answer).flatMap(subscriptionCodes)
        if (codes.length === 0) throw new CommandError('the on-subscribe has no subscription')
        return `an on-subscribe with ${codes.join(', ')}`
      })
    }
    const isRepeated = (): boolean => (callbackCounts.get(first) ?? 0) > 1
    await waitUntil(() => isRepeated() && (isTested || codes.length === 0), wait, signal)
    const awaited = (name: string, what: string, has: boolean): boolean => {
      const missing = `no ${what} came: the registry sends it while its operator runs rollcall participant check --wait`
      if (has) tell({ name, state: 'passed', sent: 'an acknowledgement', came: `the ${what}` })
      else tell({ name, state: 'missing', sent: 'nothing', came: missing })
      return has
    }
    const all = [awaited('retry', 'same on-search once more', isRepeated())]
    if (codes.length > 0) {
      all.push(awaited('notification', 'test notification', isTested))
      await runStep('unsubscribe', `an unsubscribe of ${codes.join(', ')}`, async () => {
        itemsOrThrow(await asking.unsubscribe(codes, options))
        return 'an on-unsubscribe: the subscription has ended'
      })
    }
    return all.every((has) => has)
  })
}

/** Makes the criteria of a subscription to one type of event, for the persons whom the query finds. */
const subscriptionCriteria = (query: SearchCriteria, { event, record_type }: NonNullable<SystemCheckOptions['subscription']>) =>
  ({ reg_event_type: event, filter_type: query.query_type, filter: query.query, notify_record_type: record_type }) as JsonObject &
    SubscribeCriteria as SubscribeInput

/** Milliseconds between two checks for new callbacks. */
const CALLBACK_CHECK_INTERVAL_MS = 100

async function waitUntil(isOver: () => boolean, milliseconds: number, signal: AbortSignal): Promise<void> {
  for (const end = performance.now() + milliseconds; !isOver() && performance.now() < end; ) {
    signal.throwIfAborted()
    await new Promise((resolve) => setTimeout(resolve, CALLBACK_CHECK_INTERVAL_MS))
  }
}
