/** When each code is answered: the causes on docs/troubleshooting.md. */
import type { CodePlace } from '../../packages/protocol/src/codes.ts'

export const TRIGGERS: Readonly<Record<CodePlace, Readonly<Record<string, string>>>> = {
  ack: {
    'err.request.bad':
      'Not JSON, a member name twice in one object, nested too deep, a NUL or lone surrogate, a number that a double would change. The header, the message or the array of items is missing. A transaction_id, a timestamp or a locale of the wrong format, or a page_size or page_number below 1, anywhere in the message. Without `header.meta.requested_by` or `header.meta.case` where the grant demands it ([grants.md](grants.md#who-asks)). A subscription code over 99 characters. An empty search_request, subscribe_request or subscription_codes. On asynchronous paths also a wrong action, message_ts or total_count, too many items, or a message_id used before for another message, with the `rjct` code in the text. Parts of an upload that are missing, repeated, unknown or misplaced, and lines of its file that are no items ([uploads.md](uploads.md)). With HTTP 405 for a wrong method, 413 for a body over the limit, 415 for a wrong content type.',
    'err.request.unauthorized':
      'Before the body is read: no Authorization header, a token that is expired, malformed or of another server, a participant that has been disabled.',
    'err.request.forbidden':
      'Before the body is read: the token is valid, but its participant has no grant in this registry that counts now, or its grant does not have the operation ([grants.md](grants.md)). Also, with the text for a missing grant, a [sandbox](sandbox.md) participant at a live registry, and a live one at a sandbox registry; a callback is refused so too.',
    'err.request.not_found':
      "There is no registry with this namespace, or the path is not a path of the protocol. After the token is checked: the registry's kind has no such operation, or this server does not serve it yet; the text says so.",
    'err.request.timeout': 'The body arrives too slowly, or the answer takes longer than the limit.',
    'err.version.not_supported': 'Asynchronous paths; a synchronous reply says `rjct.version.invalid` in its header.',
    'err.request.too_many_requests':
      "Before the body is read: the requests a second or at a time of the participant, or of all together, are used up, or too many requests of one address had no valid access token. After the body is read: the participant's limit for callbacks or asynchronous requests in a day is reached, or the only item of a synchronous message is above the rate of the grant. In the admin API: the node works on as many such calls as it may. With Retry-After.",
    'err.sender_id.invalid': 'Whether or not a participant of that name exists.',
    'err.sender_uri.invalid':
      'Asynchronous paths: not an absolute http or https address, one with credentials or a fragment, one that is not registered for the sender or that could lead out of a registered prefix, or one that the rules for outgoing requests refuse (host, port, scheme, network).',
    'err.receiver_id.invalid': 'Only when a receiver_id is present and not empty.',
    'err.signature.missing':
      "The participant's policy is `required` and the envelope has no signature, or a placeholder. For an uploaded file: its envelope is missing, or is signed and has no file_sha256.",
    'err.signature.invalid':
      "The signature breaks the grammar of the participant's layout, names an algorithm, a namespace or a key that is not valid here, names another sender, does not verify, has expired, lies in the future or lives over an hour; without times of its own, `message_ts` is over 24 hours old. Under the policy `if-present` also for a text that is neither a signature nor a known placeholder. An uploaded file has another SHA-256 than its envelope says.",
    'err.encryption.invalid':
      "`is_msg_encrypted` differs from the message, a member of the EncryptedMessage is missing (the text names it), or the participant's policy forbids it. The message cannot be decrypted: unknown kid, another algorithm, a changed part, no JSON object inside, a ciphertext that arrived in another message before. The participant has no key with which the answer can be encrypted. A request whose header is rejected is decrypted as well.",
    'err.service.unavailable':
      'The database cannot be reached, too many messages wait for it, the access cannot be accounted for ([accounts.md](accounts.md#what-is-accounted)), the service is stopping, or a synchronous search got no slot within `ROLLCALL_SEARCH_TIMEOUT` (with Retry-After). With HTTP 500 for an error of ours.',
  },
  header: {
    'rjct.version.invalid': '`header.version` is present and is no spelling of version 1.',
    'rjct.message_id.duplicate':
      'Header, message, namespace or path differ from the first. The same message sent again, signed or encrypted anew or not, is no duplicate and gets the correlation_id of the first. Messages that were refused with an acknowledgement before they were decrypted are not remembered.',
    'rjct.message_ts.invalid':
      '`ROLLCALL_MESSAGE_TS_WINDOW` is set and the message_ts of a request is further from now, before or after. This is not checked for callbacks: they are sent again for days without a change.',
    'rjct.action.invalid': '`header.action` is known, but this path does not accept it.',
    'rjct.action.not_supported': '`header.action` belongs to no operation at all.',
    'rjct.total_count.invalid':
      'Compared with search_request, subscribe_request and notify_event only; missing and 0 are tolerated, a number written as text is read.',
    'rjct.total_count.limit_exceeded':
      'The array of items of an encrypted message is longer than the limit. For a message in clear this is found while its body is read, before the sender is known: the answer is then 400 `err.request.bad` with this code in its text.',
    'rjct.errors.too_many': 'Beside header status `rjct` when no item of a batch succeeded.',
  },
  search: {
    'rjct.reference_id.invalid':
      'For the item alone; the others are answered. Also in the answer to a status question about a transaction, or an item, that the sender does not have here.',
    'rjct.reference_id.duplicate': 'The first is answered, each later one is rejected.',
    'rjct.timestamp.invalid':
      'A window is configured; a timestamp of the wrong format refuses the whole request with `err.request.bad`.',
    'rjct.search_criteria.invalid':
      "Unknown query_type, query of the wrong shape, unknown identifier type, attribute or operator, a value that the attribute's type cannot read, an empty list or condition, a filter beside the query, a query above a limit of depth, conditions or values, foreign reg_type, record types that contradict each other, a member of the criteria whose name is nearly that of a known one (in a question to a disability registry: that is not known), a query of such a question that does not name one person, a consent or purpose of another shape. What a participant may not ask about is unknown to it, and the text lists only what it may use ([grants.md](grants.md)): record types, identifier types, attributes; also a form of query that is not granted, and a question about the members of a household of whoever may not find [minors](grants.md#minors). Where the grant demands a consent: it is missing, its ts is in the future or too old, or its purpose is not granted; it is not signed where the grant demands that, or its signature, type, audience, person, purpose, times or first user are wrong ([consent.md](consent.md)); the text says what is needed. A consent that was withdrawn or covers nothing of the record is no error: the answer is that of an unknown person. In an [emergency](grants.md#emergencies): its ts is not of the last 24 hours, or it says no reason. Also a search that takes longer than `ROLLCALL_SEARCH_TIMEOUT`, or that has not started when the searches of its request have taken `ROLLCALL_BATCH_SEARCH_TIME` (in an asynchronous request `ROLLCALL_SNAPSHOT_SEARCH_TIME`).",
    'rjct.filter.invalid': 'An expression or GraphQL text with a syntax error.',
    'rjct.sort.invalid':
      'The record type does not have the attribute, or it may occur many times in a record, or it is named twice; the order is neither asc nor desc.',
    'rjct.pagination.invalid':
      'page_size above the limit of the registry, the participant or its grant; a member whose name is nearly that of a member of pagination; a page that would begin beyond the cap of results; below 1 it refuses the whole request with `err.request.bad`.',
    'rjct.search.too_many_records_found':
      'More than `ROLLCALL_MAX_RESULTS`, on every page: the text says `more than N`, never how many. Also when the records of the whole answer grow too large, or a daily quota of the grant is used up, that of emergencies included, or its rate is reached. With `counts: capped` more than the cap is answered, without records.',
  },
  subscribe: {
    'rjct.reference_id.invalid': 'For the item alone; the others go on.',
    'rjct.reference_id.duplicate': 'The first is answered, each later one is rejected.',
    'rjct.timestamp.invalid':
      'A window is configured; a timestamp of the wrong format refuses the whole request with `err.request.bad`.',
    'rjct.notify_types.invalid':
      'reg_event_type or notify_record_type is missing or unknown. The text names those that there are.',
    'rjct.notify_details.invalid':
      'subscribe_criteria that are no object; an unknown filter_type, attribute or operator; a filter of the wrong shape, or a text that cannot be parsed; a filter in another member, or a member whose name is nearly that of a known one; no filter, unless the grant of the participant allows it; an event type or a record type that is not granted; a frequency that is refused ([events.md](events.md#frequency)); a foreign reg_type, another version, an authorize of another shape. Also where the participant has as many subscriptions as it may have, and where there is no address for notifications.',
    'rjct.person_id.invalid': 'Anywhere in the filter. A person that the registry does not know may be subscribed to.',
    'rjct.event.already_subscribed':
      'Same sender, registry, event type, record type, filter, and frequency with its start_time, as a subscription that has not ended, or as an earlier item of the batch. Spellings, the form of the filter and the order of its conditions make no difference. The text names the code. With another end_time the subscription is renewed instead.',
  },
  unsubscribe: {
    'rjct.reference_id.invalid': 'Listed by the standard; the message has no reference_id, so it is not answered here.',
    'rjct.reference_id.duplicate':
      'Listed by the standard; the message has no reference_id, so it is not answered here.',
    'rjct.timestamp.invalid':
      'A window is configured; a timestamp of the wrong format refuses the whole request with `err.request.bad`.',
    'rjct.subscription_code.invalid':
      'No subscription of the sender in this registry has one of the codes: never given out, given to another sender, or in another registry.',
    'rjct.requester.invalid':
      "A code is the sender's own, and it may not have such a subscription any more: its grant does not allow it any more.",
    'rjct.event.already_unsubscribed':
      "A code is the sender's own, and its subscription has ended: by an earlier unsubscribe, by the operator, at its end_time, or with the death of its person.",
  },
}
