/** The client of one registry: a method for each operation, and short methods for common questions. */
import { operation, type SearchCriteria, type SearchResponse } from '@rollcall/protocol'
import { HeaderRejected, SeveralRecords, TransportError } from '../errors.ts'
import type { AwaitOptions, CallbackName, Received, ReplyCallback } from '../receiver/callbacks.ts'
import { outstandingAt } from '../receiver/outstanding-requests.ts'
import {
  type DisabilityQuestion,
  disabledContent,
  type EnrolmentQuestion,
  type EnrolmentUpdate,
  enrolledContent,
  isDisabledIn,
  isEnrolledIn,
  recordsIn,
  statusIn,
  UPDATE_BATCH,
  type UpdateOptions,
  updatesIn,
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
import { Outstanding } from './outstanding.ts'
import { pagesOf } from './pages.ts'
import type { AskedRecord, FoundByCallback, RecordOf, RegistryRecord, ResponseOf, SaidKind } from './records.ts'
import { ask, askLater } from './request.ts'
import { itemsOrThrow } from './results.ts'
import { type ClientOptions, type OfKind, readSettings, type Settings } from './settings.ts'

type Reply<Name extends OperationName, Kind extends SaidKind> = Promise<Answer<ResponseOf<Name, Kind>>>

/** Milliseconds. */
const CALLBACK_TIMEOUT = 60_000

/**
 * Sends requests to one registry. Methods reject with TransportError, AckError, HeaderRejected, UntrustedAnswer or
 * TokenRefused; `resultsOf` and `itemsOrThrow` read the results of the items of an `Answer`. With `kind`, records have
 * the types of that kind, but are not checked against them. A method whose name ends in `Async` requests an answer at a
 * callback, and resolves with the ack.
 */
export class RegistryClient<const Kind extends SaidKind = string> {
  readonly #settings: Settings
  readonly #options: ClientOptions & OfKind<SaidKind>

  /** @throws TypeError for an invalid address, an unknown kind, or keys that cannot be ours */
  constructor(options: ClientOptions & OfKind<Kind>) {
    this.#options = options
    this.#settings = readSettings(options)
  }

  /** Finds records by identifier or by other query forms (spec "SearchRequest"). */
  search(input: OneOrMore<SearchInput>, options?: RequestOptions): Reply<'search', Kind> {
    return this.#ask('search', searchContent(input), options)
  }

  searchAsync(input: OneOrMore<SearchInput>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('search', searchContent(input), options)
  }

  /**
   * Searches on the asynchronous path, and yields each callback as it comes, until every item has all its pages; pages
   * come in any order. The client needs a `receiver`.
   * @param options `timeout` is for each callback; `accepted` gets the ack
   * @throws HeaderRejected when no item was processed
   * @throws TransportError `no_callback`
   */
  async *searchByCallback(
    input: OneOrMore<SearchInput>,
    options: CallbackOptions = {},
  ): AsyncGenerator<FoundByCallback<RecordOf<Kind>>, void, void> {
    const content = searchContent(input)
    const { correlation_id } = await this.#accepted('search', content, options)
    for (const outstanding = new Outstanding(content); !outstanding.isOver; ) {
      const callback = await this.#replyTo('search', correlation_id, options)
      const { header, message } = callback
      if (header.status === 'rjct' && message.search_response.length === 0) throw new HeaderRejected(header)
      outstanding.take(message)
      yield callback as FoundByCallback<RecordOf<Kind>>
    }
  }

  /** Registers an interest in events and waits for the registry's callback: the client needs a `receiver`. */
  subscribe(input: OneOrMore<SubscribeInput>, options?: RequestOptions): Reply<'subscribe', Kind> {
    return this.#askAndAwait('subscribe', subscribeContent(input), options)
  }

  subscribeAsync(input: OneOrMore<SubscribeInput>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('subscribe', subscribeContent(input), options)
  }

  /** Ends subscriptions by their codes and waits for the registry's callback: the client needs a `receiver`. */
  unsubscribe(codes: OneOrMore<string>, options?: RequestOptions): Reply<'unsubscribe', Kind> {
    return this.#askAndAwait('unsubscribe', unsubscribeContent(codes), options)
  }

  unsubscribeAsync(codes: OneOrMore<string>, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('unsubscribe', unsubscribeContent(codes), options)
  }

  /** Requests the status of an earlier request (spec "TxnStatusRequest"). */
  txnStatus(question: StatusQuestion, options?: RequestOptions): Reply<'txn-status', Kind> {
    return this.#ask('txn-status', statusContent(question), options)
  }

  txnStatusAsync(question: StatusQuestion, options?: RequestOptions): Promise<Accepted> {
    return this.#askLater('txn-status', statusContent(question), options)
  }

  /**
   * Sends changed enrolments to a beneficiary registry, in consecutive messages of 100 beneficiaries. Sending the same
   * list again changes nothing, so after an error send all of it again. All messages share a given `transaction_id`:
   * ask for their receipts by `correlation_id` then.
   * @returns the result for each beneficiary, in the order of the list
   */
  async updateEnrolments(
    beneficiaries: OneOrMore<RegistryRecord>,
    { receipt_type, batch_size = UPDATE_BATCH, ...options }: UpdateOptions = {},
  ): Promise<readonly EnrolmentUpdate[]> {
    if (!(batch_size >= 1)) throw new TypeError('batch_size must be a whole number from 1')
    const all = listOf(beneficiaries)
    const updates: EnrolmentUpdate[] = []
    do {
      const batch = all.slice(updates.length, updates.length + batch_size)
      const enrolled_updates = { ...(receipt_type !== undefined && { receipt_type }), beneficiaries: batch }
      const answer = await this.#ask('enrolment-updates', { enrolled_updates }, options)
      updates.push(...updatesIn(answer, batch.length, updates.length))
    } while (updates.length < all.length)
    return updates
  }

  /**
   * True when the person is enrolled now, as a beneficiary registry has it. An unknown person is not enrolled.
   * @throws ItemRejected
   */
  async enrolled(question: EnrolmentQuestion, options?: RequestOptions): Promise<boolean> {
    return isEnrolledIn(await this.#ask('enrolled', enrolledContent(question), options))
  }

  /**
   * The enrolment status of a person in an employment support system: a label such as `Active`, and `Inactive` for an
   * unknown person.
   * @param asked the person, or the person with the type of the identifier
   * @throws ItemRejected
   */
  async checkEnrolment(
    asked: string | Omit<EnrolmentQuestion, 'programme'>,
    options?: RequestOptions,
  ): Promise<string> {
    const question = typeof asked === 'string' ? { person: asked } : asked
    return statusIn(await this.#ask('enrolment-status', enrolledContent(question), options))
  }

  /** True when a disability registry has the person registered, by the member identifier. @throws ItemRejected */
  async disabled(person: DisabilityQuestion, options?: RequestOptions): Promise<boolean> {
    return isDisabledIn(await this.#ask('disabled', disabledContent(person), options))
  }

  /** The details of a person's disability. @throws ItemRejected */
  async disabilityDetails(person: DisabilityQuestion, options?: RequestOptions): Promise<readonly RegistryRecord[]> {
    return recordsIn(await this.#ask('disability-details', disabledContent(person), options))
  }

  /** The support that a person with a disability needs or has. @throws ItemRejected */
  async disabilitySupport(person: DisabilityQuestion, options?: RequestOptions): Promise<readonly RegistryRecord[]> {
    return recordsIn(await this.#ask('disability-support', disabledContent(person), options))
  }

  /**
   * The one record found, or null.
   * @throws SeveralRecords when several are found: the client does not guess which one is meant
   * @throws ItemRejected
   */
  async searchOne<const Criteria extends SearchCriteria>(
    criteria: Criteria,
    options?: RequestOptions,
  ): Promise<AskedRecord<Kind, Criteria> | null> {
    const pagination = { page_size: 2, page_number: 1 }
    const found = await this.#ask('search', searchContent({ ...criteria, pagination }), options)
    const [item] = itemsOrThrow<SearchResponse>(found)
    const [record, ...others] = item?.data?.reg_records ?? []
    const count = Math.max(item?.pagination?.total_count ?? 0, 1 + others.length)
    if (record !== undefined && count > 1) throw new SeveralRecords(count)
    return (record as AskedRecord<Kind, Criteria> | undefined) ?? null
  }

  /**
   * Yields the found records page by page. A page is requested when the loop comes to it: leaving the loop ends the
   * requests. Give `sort` where the order matters. Pages have 100 records, from page 1, unless `criteria.pagination`
   * says otherwise.
   * @throws ItemRejected
   */
  searchAll<const Criteria extends SearchCriteria>(
    criteria: Criteria,
    options?: RequestOptions,
  ): AsyncGenerator<AskedRecord<Kind, Criteria>, void, void> {
    const ask = (paged: SearchCriteria): Promise<Answer<SearchResponse>> =>
      this.#ask('search', searchContent(paged), options)
    const pages = pagesOf(ask, criteria)
    return pages as AsyncGenerator<AskedRecord<Kind, Criteria>, void, void>
  }

  /**
   * The callback with this correlation_id that the client's receiver gets, or got before anybody awaited it. When a
   * result has several pages, the next call returns the next one.
   * @throws TransportError `no_callback` when it does not come within `timeout`
   * @throws the reason of `signal` when that is aborted
   */
  awaitCallback(correlation_id: string, options: AwaitOptions = {}): Promise<ReplyCallback> {
    const { receiver } = this.#options
    if (receiver === undefined) throw new TypeError('the client was made without a receiver')
    return receiver.awaitCallback(correlation_id, options)
  }

  /** Any operation by its name, with the whole answer. */
  ask<Name extends OperationName>(name: Name, content: Content<Name>, options?: RequestOptions): Reply<Name, Kind> {
    return this.#ask(name, content, options)
  }

  /** Any operation on the asynchronous path, by its name. */
  askAsync<Name extends OperationName>(
    name: Name,
    content: Content<Name>,
    options?: RequestOptions,
  ): Promise<Accepted> {
    return this.#askLater(name, content, options)
  }

  // The answer was checked against the schema of the operation's reply, which has this type.
  async #ask<Name extends OperationName, Response extends object = Messages[Name]['response']>(
    name: Name,
    content: Content<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Response>> {
    const row = operation(name)
    if (row.sync_paths.length === 0) throw new TypeError(`${name} has no synchronous path`)
    return (await ask(this.#settings, { operation: row, content, options })) as Answer<Response>
  }

  async #askLater(name: OperationName, content: object, options: RequestOptions = {}): Promise<Accepted> {
    const row = operation(name)
    if (row.async_paths.length === 0) throw new TypeError(`${name} has no asynchronous path`)
    const { receiver_id, trust } = this.#settings
    const transaction_id = options.transaction_id ?? crypto.randomUUID()
    const send = () => askLater(this.#settings, { operation: row, content, options: { ...options, transaction_id } })
    const { receiver } = this.#options
    if (receiver === undefined || receiver_id !== undefined) return send()
    return outstandingAt(receiver).during(trust, transaction_id, send)
  }

  /** Sends a request on the asynchronous path and awaits its callback; for operations without a synchronous path. */
  async #askAndAwait<Name extends 'subscribe' | 'unsubscribe'>(
    name: Name,
    content: Content<Name>,
    options: RequestOptions = {},
  ): Promise<Answer<Messages[Name]['response']>> {
    const timeout = this.#options.callback_timeout ?? CALLBACK_TIMEOUT
    const { correlation_id } = await this.#accepted(name, content, options)
    const callback = await this.#replyTo(name, correlation_id, { ...options, timeout })
    return callback as Answer<Messages[Name]['response']>
  }

  /** Sends a request whose callback is waited for here. */
  async #accepted(name: OperationName, content: object, options: CallbackOptions): Promise<Accepted> {
    if (this.#options.receiver === undefined) {
      throw new TypeError(`${name} waits for a callback and needs a receiver; use ${name}Async without`)
    }
    const accepted = await this.#askLater(name, content, options)
    if (accepted.ack_status === 'NACK') {
      throw new TransportError(
        'no_callback',
        'the registry took the request, and its NACK says that no callback follows',
      )
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
    if (isNamed(callback, `on-${name}`)) return callback
    throw new TransportError('unreadable', `the callback is ${callback.name} where another is expected`)
  }
}

/** The name of a callback says which message it holds. */
const isNamed = <Name extends CallbackName>(callback: Received, name: Name): callback is Received<Name> =>
  callback.name === name
