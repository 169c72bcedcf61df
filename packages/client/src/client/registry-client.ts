/** The client of one registry: a method for each operation, and short methods for common questions. */
import { operation, type SearchCriteria, type SearchResponse } from '@rollcall/protocol'
import { HeaderRejected, SeveralRecords, TransportError } from '../errors.ts'
import type { AwaitOptions, CallbackName, Received, ReplyCallback } from '../receiver/callbacks.ts'
import { outstandingRequestsAt } from '../receiver/outstanding-requests.ts'
import {
  type DisabilityQuestion,
  disabilityQuestionContent,
  type EnrolmentQuestion,
  type EnrolmentUpdate,
  enrolmentQuestionContent,
  enrolmentStatusIn,
  isDisabledIn,
  isEnrolledIn,
  recordsIn,
  UPDATE_BATCH_SIZE,
  type UpdateOptions,
  updateResultsIn,
} from './enrolment.ts'
import {
  listOf,
  type OneOrMore,
  type SearchInput,
  type StatusQuestion,
  type SubscribeInput,
  searchContent,
  statusContent,
  subscribeContent,
  unsubscribeContent,
} from './inputs.ts'
import type { Accepted, Answer, CallbackOptions, Content, Messages, OperationName, RequestOptions } from './messages.ts'
import { OutstandingPages } from './outstanding.ts'
import { recordsOfAllPages } from './pages.ts'
import type { AskedRecord, FoundByCallback, RecordOf, RegistryRecord, ResponseOf, SaidKind } from './records.ts'
import { askRegistry, sendAsyncRequest } from './request.ts'
import { onlySearchItem } from './results.ts'
import { type ClientOptions, type OfKind, readSettings, type Settings } from './settings.ts'

/** The promise of an answer to an operation. */
type Reply<Name extends OperationName, Kind extends SaidKind> = Promise<Answer<ResponseOf<Name, Kind>>>

/** The longest wait for the callback of `subscribe` and `unsubscribe` by default, in milliseconds. */
const CALLBACK_TIMEOUT_MS = 60_000

/**
 * Sends requests to one registry. Methods reject with TransportError, AckError, HeaderRejected, UntrustedAnswer or
 * TokenRefused, and with the errors in their own comments. Read the items of an `Answer` with `resultsOf` or `itemsOrThrow`.
 * With the option `kind`, records have the types of that kind, but are not checked. A method whose name ends in `Async`
 * asks for an answer by callback, and resolves with the ack.
 */
export class RegistryClient<const Kind extends SaidKind = string> {
  readonly #settings: Settings
  readonly #options: ClientOptions & OfKind<SaidKind>

  /** Makes a client. @throws TypeError an option is invalid; the key in `signing` is read by the first request */
  constructor(options: ClientOptions & OfKind<Kind>) {
    this.#options = options
    this.#settings = readSettings(options)
  }

  /** Finds records by identifier or by another query form (spec "SearchRequest"). */
  search(input: OneOrMore<SearchInput>, options?: RequestOptions): Reply<'search', Kind> {
    return this.#ask('search', searchContent(input), options)
  }

  searchAsync(input: OneOrMore<SearchInput>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('search', searchContent(input), options)
  }

  /**
   * Searches on the asynchronous path, and yields each callback, until all pages of every item have come. The pages may come in
   * any order. The client needs a `receiver`.
   * @param options `timeout` is for each callback; `accepted` gets the ack
   * @throws HeaderRejected no item was processed
   * @throws TransportError `no_callback` a callback did not come within `timeout`, or the ack says that none follows
   */
  async *searchByCallback(
    input: OneOrMore<SearchInput>,
    options: CallbackOptions = {},
  ): AsyncGenerator<FoundByCallback<RecordOf<Kind>>, void, void> {
    const content = searchContent(input)
    const { correlation_id } = await this.#accepted('search', content, options)
    for (const outstanding = new OutstandingPages(content); !outstanding.isOver; ) {
      const callback = await this.#replyTo('search', correlation_id, options)
      const { header, message } = callback
      if (header.status === 'rjct' && message.search_response.length === 0) throw new HeaderRejected(header)
      outstanding.take(message)
      yield callback as FoundByCallback<RecordOf<Kind>>
    }
  }

  /** Subscribes to events, and waits for the registry's callback. The client needs a `receiver`. */
  subscribe(input: OneOrMore<SubscribeInput>, options?: RequestOptions): Reply<'subscribe', Kind> {
    return this.#askAndAwait('subscribe', subscribeContent(input), options)
  }

  subscribeAsync(input: OneOrMore<SubscribeInput>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('subscribe', subscribeContent(input), options)
  }

  /** Ends subscriptions by their codes, and waits for the registry's callback. The client needs a `receiver`. */
  unsubscribe(codes: OneOrMore<string>, options?: RequestOptions): Reply<'unsubscribe', Kind> {
    return this.#askAndAwait('unsubscribe', unsubscribeContent(codes), options)
  }

  unsubscribeAsync(codes: OneOrMore<string>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('unsubscribe', unsubscribeContent(codes), options)
  }

  /** Asks for the status of an earlier request (spec "TxnStatusRequest"). */
  txnStatus(question: StatusQuestion, options?: RequestOptions): Reply<'txn-status', Kind> {
    return this.#ask('txn-status', statusContent(question), options)
  }

  txnStatusAsync(question: StatusQuestion, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('txn-status', statusContent(question), options)
  }

  /**
   * Sends changed enrolments to a beneficiary registry, in messages of `batch_size` beneficiaries, one after another. After an
   * error, send the whole list again: enrolments that were written already do not change. When you give a `transaction_id`, all
   * messages have it. Then ask for a receipt by the `correlation_id` in the results, not by the `transaction_id`.
   * @returns the result for each beneficiary, in the order of the list
   */
  async updateEnrolments(
    beneficiaries: OneOrMore<RegistryRecord>,
    { receipt_type, batch_size = UPDATE_BATCH_SIZE, ...options }: UpdateOptions = {},
  ): Promise<readonly EnrolmentUpdate[]> {
    if (!(batch_size >= 1)) throw new TypeError('batch_size must be a whole number from 1')
    const all = listOf(beneficiaries)
    const updates: EnrolmentUpdate[] = []
    do {
      const batch = all.slice(updates.length, updates.length + batch_size)
      const enrolled_updates = { ...(receipt_type !== undefined && { receipt_type }), beneficiaries: batch }
      const answer = await this.#ask('enrolment-updates', { enrolled_updates }, options)
      updates.push(...updateResultsIn(answer, batch.length, updates.length))
    } while (updates.length < all.length)
    return updates
  }

  /**
   * True when a beneficiary registry has the person as enrolled now; false also for a person whom the registry does not know.
   * @throws ItemRejected
   */
  async enrolled(question: EnrolmentQuestion, options?: RequestOptions): Promise<boolean> {
    return isEnrolledIn(await this.#ask('enrolled', enrolmentQuestionContent(question), options))
  }

  /**
   * The enrolment status of a person in an employment support system: a label such as `Active`; `Inactive` for a person
   * who is unknown or not enrolled.
   * @param asked the identifier of the person, alone or with its type
   * @throws ItemRejected
   */
  async checkEnrolment(asked: string | Omit<EnrolmentQuestion, 'programme'>, options?: RequestOptions): Promise<string> {
    const question = typeof asked === 'string' ? { person: asked } : asked
    return enrolmentStatusIn(await this.#ask('enrolment-status', enrolmentQuestionContent(question), options))
  }

  /** True when a disability registry answers that the person is registered as disabled. @throws ItemRejected */
  async disabled(person: DisabilityQuestion, options?: RequestOptions): Promise<boolean> {
    return isDisabledIn(await this.#ask('disabled', disabilityQuestionContent(person), options))
  }

  /** The records with details of a person's disability. @throws ItemRejected */
  async disabilityDetails(person: DisabilityQuestion, options?: RequestOptions): Promise<readonly RegistryRecord[]> {
    return recordsIn(await this.#ask('disability-details', disabilityQuestionContent(person), options))
  }

  /** The records with the support that a person with a disability needs or has. @throws ItemRejected */
  async disabilitySupport(person: DisabilityQuestion, options?: RequestOptions): Promise<readonly RegistryRecord[]> {
    return recordsIn(await this.#ask('disability-support', disabilityQuestionContent(person), options))
  }

  /**
   * The only record that a search finds; null when there is none.
   * @throws SeveralRecords the search finds several
   * @throws ItemRejected; TransportError `unreadable` also where the registry has not searched yet
   */
  async searchOne<const Criteria extends SearchCriteria>(
    criteria: Criteria,
    options?: RequestOptions,
  ): Promise<AskedRecord<Kind, Criteria> | null> {
    const pagination = { page_size: 2, page_number: 1 }
    const item = onlySearchItem(await this.#ask('search', searchContent({ ...criteria, pagination }), options))
    const records = item?.data?.reg_records ?? []
    const [record] = records
    const count = Math.max(item?.pagination?.total_count ?? 0, records.length)
    if (count > 1) throw new SeveralRecords(count)
    return (record as AskedRecord<Kind, Criteria> | undefined) ?? null
  }

  /**
   * Yields the found records. The next page is requested when the loop needs it, so leaving the loop ends the requests. Give
   * `sort` if the order matters. Pages have 100 records and begin with page 1, unless `criteria.pagination` says otherwise.
   * @throws ItemRejected; TransportError `unreadable` also where an answer has another page, or the registry has not searched yet
   */
  searchAll<const Criteria extends SearchCriteria>(
    criteria: Criteria,
    options?: RequestOptions,
  ): AsyncGenerator<AskedRecord<Kind, Criteria>, void, void> {
    const ask = (paged: SearchCriteria): Promise<Answer<SearchResponse>> => this.#ask('search', searchContent(paged), options)
    const pages = recordsOfAllPages(ask, criteria)
    return pages as AsyncGenerator<AskedRecord<Kind, Criteria>, void, void>
  }

  /**
   * The callback with this correlation_id, from the client's receiver. It may have come before this call. A result of several
   * pages comes in several callbacks: each call returns one that was not returned yet, in the order of arrival.
   * @throws TransportError `no_callback` no callback comes within `timeout`
   * @throws TypeError the client has no receiver
   * @throws the reason of `signal`, unchanged, when it aborts
   */
  awaitCallback(correlation_id: string, options: AwaitOptions = {}): Promise<ReplyCallback> {
    const { receiver } = this.#options
    if (receiver === undefined) throw new TypeError('the client was made without a receiver')
    return receiver.awaitCallback(correlation_id, options)
  }

  /** Requests an operation by its name on its synchronous path. @throws TypeError the operation has no synchronous path */
  ask<Name extends OperationName>(name: Name, content: Content<Name>, options?: RequestOptions): Reply<Name, Kind> {
    return this.#ask(name, content, options)
  }

  /** Requests an operation by its name on its asynchronous path. @throws TypeError the operation has no asynchronous path */
  askAsync<Name extends OperationName>(name: Name, content: Content<Name>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater(name, content, options)
  }

  // The cast is right: the answer was checked against the schema of the operation's reply, which has this type.
  async #ask<Name extends OperationName, Response extends object = Messages[Name]['response']>(
    name: Name,
    content: Content<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Response>> {
    const row = operation(name)
    if (row.sync_paths.length === 0) throw new TypeError(`${name} has no synchronous path`)
    return (await askRegistry(this.#settings, { operation: row, content, options })) as Answer<Response>
  }

  async #askLater(name: OperationName, content: object, options: RequestOptions = {}): Promise<Accepted> {
    const row = operation(name)
    if (row.async_paths.length === 0) throw new TypeError(`${name} has no asynchronous path`)
    const { receiver_id, trust } = this.#settings
    const transaction_id = options.transaction_id ?? crypto.randomUUID()
    const send = () => sendAsyncRequest(this.#settings, { operation: row, content, options: { ...options, transaction_id } })
    const { receiver } = this.#options
    if (receiver === undefined || receiver_id !== undefined) return send()
    return outstandingRequestsAt(receiver).during(trust, transaction_id, send)
  }

  /** Sends a subscribe or an unsubscribe, which have no synchronous path, and waits for its callback. */
  async #askAndAwait<Name extends 'subscribe' | 'unsubscribe'>(
    name: Name,
    content: Content<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Messages[Name]['response']>> {
    const timeout = this.#options.callback_timeout ?? CALLBACK_TIMEOUT_MS
    const { correlation_id } = await this.#accepted(name, content, options)
    const callback = await this.#replyTo(name, correlation_id, { ...options, timeout })
    return callback as Answer<Messages[Name]['response']>
  }

  /**
   * Sends a request on the asynchronous path, and returns the ack.
   * @throws TypeError no receiver; TransportError also for a NACK
   */
  async #accepted(name: OperationName, content: object, options: CallbackOptions): Promise<Accepted> {
    if (this.#options.receiver === undefined) {
      throw new TypeError(`${name} waits for a callback and needs a receiver; use ${name}Async without`)
    }
    const accepted = await this.#askLater(name, content, options)
    if (accepted.ack_status === 'NACK') {
      throw new TransportError('no_callback', 'the registry took the request, and its NACK says that no callback follows')
    }
    options.accepted?.(accepted)
    return accepted
  }

  async #replyTo<Name extends 'search' | 'subscribe' | 'unsubscribe'>(
    name: Name,
    correlation_id: string,
    { timeout, signal }: AwaitOptions,
  ): Promise<Received<`on-${Name}`>> {
    const callback: Received = await this.awaitCallback(correlation_id, {
      ...(timeout !== undefined && { timeout }),
      ...(signal !== undefined && { signal }),
    })
    const { kind, receiver } = this.#options
    if (kind !== undefined) receiver?.noteKind(callback.header.sender_id, kind)
    if (isCallbackNamed(callback, `on-${name}`)) return callback
    throw new TransportError('unreadable', `the callback is ${callback.name} where another is expected`)
  }
}

/** True when a callback has this name. The name decides the type of the message. */
const isCallbackNamed = <Name extends CallbackName>(callback: Received, name: Name): callback is Received<Name> =>
  callback.name === name
